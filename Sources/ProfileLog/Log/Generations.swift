/// Which stored states of the projections are read, and which are written next to them: the row `generations` of table
/// `checkpoints`.
///
/// The states of a projection are of a *generation*. Generation 0 is stored under the projection's own name; without
/// the row, it is the live one of each projection. A replay writes the states of a new generation, the shadow, and a
/// swap changes this row alone (docs/decisions/0010).
///
/// ```
/// Generations: 1 repeated { 1 projection, 2 live generation }, 2 greatest number ever used, 3 Shadow; CRC-32C uint32
/// LE
/// ```
struct Generations: Hashable, Sendable {
    static let key = Array("generations".utf8)

    /// The live generation by the projection's name; 0 if it is not here.
    var live: [Name: UInt64] = [:]
    /// Numbers are never used again: rows of an earlier generation may still be there.
    var newest: UInt64 = 0
    var shadow: Shadow?

    /// The name under which the states of `projection` are stored. No projection's name has a U+0000.
    static func storedName(_ projection: String, _ generation: UInt64) -> String {
        generation == 0 ? projection : "\(projection)\u{0}\(generation)"
    }

    /// The names under which live states are stored, by projection, where they are not the projection's own.
    var storedNames: [Name: String] {
        var names: [Name: String] = [:]
        for (projection, generation) in live where generation > 0 {
            names[projection] = Self.storedName(projection.text, generation)
        }
        return names
    }

    /// A stored name for people.
    static func shown(_ name: String) -> String {
        let parts = name.split(separator: "\u{0}", maxSplits: 1)
        return parts.count == 2 ? "\(parts[0]) (generation \(parts[1]))" : name
    }

    /// Whether states that are stored under `name` are live or of the shadow.
    func uses(_ name: String) -> Bool {
        let parts = name.split(separator: "\u{0}", maxSplits: 1, omittingEmptySubsequences: false)
        let projection = Name(String(parts[0]))
        let generation = parts.count == 1 ? 0 : UInt64(parts[1])
        if generation == live[projection] ?? 0 { return true }
        guard let shadow, shadow.projections.contains(where: { $0.name == projection }) else { return false }
        return generation == shadow.generation
    }

    /// A damaged row counts as none: then no state is read that another generation replaced, as a swap is followed by
    /// their removal, and folds answer.
    static func read(
        _ tables: Tables, _ transaction: borrowing some Reading & ~Copyable
    ) throws(StorageError) -> Generations {
        guard let row = try transaction.get(tables.checkpoints, key) else { return Generations() }
        return Generations(row) ?? Generations()
    }

    func write(_ tables: Tables, _ transaction: borrowing WriteTransaction) throws(StorageError) {
        try transaction.put(tables.checkpoints, Self.key, bytes)
    }
}

extension Generations {
    private init?(_ row: UnsafeRawBufferPointer) {
        guard RecordHeader.hasRightChecksum(row) else { return nil }
        var reader = WireReader(row.slice(0..<(row.count - 4)))
        while let field = reader.field() {
            switch (field.number, field.type) {
            case (1, .bytes):
                let (name, number) = Self.pair(reader.bytes())
                live[name] = number
            case (2, .varint): newest = reader.varint()
            case (3, .bytes): shadow = Shadow(reader.bytes())
            default: reader.skip(field.type)
            }
        }
        if reader.isBad { return nil }
    }

    private var bytes: [UInt8] {
        var writer = WireWriter()
        for (name, generation) in live.sorted(by: { $0.key < $1.key }) {
            Self.write(1, name, generation, to: &writer)
        }
        writer.field(2, varint: newest)
        if let shadow {
            let begin = writer.beginMessage(3)
            shadow.write(to: &writer)
            writer.endMessage(begin)
        }
        writer.littleEndian(crc32c(writer.bytes))
        return Array(writer.bytes)
    }

    fileprivate static func write(_ field: UInt32, _ name: Name, _ number: UInt64, to writer: inout WireWriter) {
        let begin = writer.beginMessage(field)
        writer.field(1, text: name.text)
        writer.field(2, varint: number)
        writer.endMessage(begin)
    }

    fileprivate static func pair(_ bytes: UnsafeRawBufferPointer) -> (name: Name, number: UInt64) {
        var reader = WireReader(bytes)
        var (name, number) = (Name(""), UInt64(0))
        while let field = reader.field() {
            switch (field.number, field.type) {
            case (1, .bytes): name = Name(reader.text())
            case (2, .varint): number = reader.varint()
            default: reader.skip(field.type)
            }
        }
        return (name, number)
    }
}

/// How far a shadow has come: states that a replay writes next to the live ones.
///
/// ```
/// 1 generation, 2 repeated { 1 projection, 2 revision }, 3 until, 4 packed users, 5 begun, 6 pass, 7 user, 8 states,
/// 9 events, 10 complete
/// ```
package struct Shadow: Hashable, Sendable {
    /// The number of its generation.
    package let generation: UInt64
    /// The projections that are folded, with their revisions.
    package let projections: [Projected]
    /// No event after this position is folded; nil for all events.
    package let until: Position?
    /// The users whose states are folded, ascending; empty for all users.
    package let users: [UInt64]
    /// Where the log ended when the present pass over the users began.
    package var begun: UInt64
    /// A pass after the first one folds what was recorded during the pass before it.
    package var pass: UInt64 = 1
    /// The last user whose states are written in this pass.
    package var user: UInt64 = 0
    /// States written.
    package var states: UInt64 = 0
    /// Events folded.
    package var events: UInt64 = 0
    /// Whether it may be swapped.
    package var isComplete = false

    /// A projection and the revision of its code.
    package struct Projected: Hashable, Sendable {
        package let name: Name
        package let revision: UInt32
    }

    /// Whether a replay of the same projections, users and events goes on here.
    func isSameWork(as other: Shadow) -> Bool {
        projections == other.projections && until == other.until && users == other.users
    }
}

extension Shadow {
    fileprivate init(_ bytes: UnsafeRawBufferPointer) {
        var projections: [Projected] = []
        var (generation, until, begun, users) = (UInt64(0), Position?.none, UInt64(0), [UInt64]())
        var (pass, user, states, events, isComplete) = (UInt64(1), UInt64(0), UInt64(0), UInt64(0), false)
        var reader = WireReader(bytes)
        while let field = reader.field() {
            switch (field.number, field.type) {
            case (1, .varint): generation = reader.varint()
            case (2, .bytes):
                let (name, number) = Generations.pair(reader.bytes())
                projections.append(Projected(name: name, revision: UInt32(truncatingIfNeeded: number)))
            case (3, .varint): until = Position(rawValue: reader.varint())
            case (4, .bytes):
                var list = WireReader(reader.bytes())
                while !list.isAtEnd { users.append(list.varint()) }
            case (5, .varint): begun = reader.varint()
            case (6, .varint): pass = reader.varint()
            case (7, .varint): user = reader.varint()
            case (8, .varint): states = reader.varint()
            case (9, .varint): events = reader.varint()
            case (10, .varint): isComplete = reader.varint() != 0
            default: reader.skip(field.type)
            }
        }
        self.init(
            generation: generation, projections: projections, until: until, users: users, begun: begun, pass: pass,
            user: user, states: states, events: events, isComplete: isComplete)
    }

    fileprivate func write(to writer: inout WireWriter) {
        writer.field(1, varint: generation)
        for projected in projections {
            Generations.write(2, projected.name, UInt64(projected.revision), to: &writer)
        }
        if let until { writer.field(3, varint: until.rawValue) }
        if !users.isEmpty {
            let begin = writer.beginMessage(4)
            for user in users { writer.varint(user) }
            writer.endMessage(begin)
        }
        writer.field(5, varint: begun)
        writer.field(6, varint: pass)
        writer.field(7, varint: user)
        writer.field(8, varint: states)
        writer.field(9, varint: events)
        if isComplete { writer.field(10, varint: 1) }
    }
}
