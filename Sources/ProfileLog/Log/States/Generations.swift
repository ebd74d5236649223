/// The stored states of the projections that are read, and those that are written next to them: the row `generations`
/// of table `checkpoints`.
///
/// The states of a projection are of a *generation*. Generation 0 is stored under the projection's own name; without
/// the row, it is the live one of each projection. A replay writes the states of a new generation, the shadow, and a
/// swap changes this row alone (docs/decisions/0010).
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

    /// Tells whether states that are stored under `name` are live or of the shadow.
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
        return decoded(row) ?? Generations()
    }

    /// The keys of table `checkpoints` that are not the log's own: those of states over the whole store.
    static func stateKeys(_ tables: Tables, _ transaction: borrowing some Reading & ~Copyable) throws -> [[UInt8]] {
        var keys: [[UInt8]] = []
        try transaction.forEachRow(of: tables.checkpoints.table) { keys.append(Array($0.key)) }
        return keys.filter { !ownKeys.contains($0) }
    }

    /// The keys of table `checkpoints` that no projection may be named after.
    static let ownKeys = [IndexCheckpoint.key, FlushProgress.key, Generations.key]

    func write(_ tables: Tables, _ transaction: borrowing WriteTransaction) throws(StorageError) {
        try transaction.put(tables.checkpoints, Self.key, bytes)
    }
}

extension Generations {
    private static let wire = WireTable(
        Generations(),
        [
            .messages(1, NumberedName.wire) {
                $0.live.sorted { $0.key < $1.key }.map { NumberedName(name: $0.key, number: $0.value) }
            } add: {
                $0.live[$1.name] = $1.number
            },
            .number(2, \.newest),
            .message(3, \.shadow, Shadow.wire),
        ])

    /// Returns nil if the row is damaged.
    private static func decoded(_ row: UnsafeRawBufferPointer) -> Generations? {
        RecordHeader.hasRightChecksum(row) ? wire.read(row.slice(0..<(row.count - 4))) : nil
    }

    /// The bytes, with a CRC-32C at the end.
    private var bytes: [UInt8] {
        var writer = WireWriter()
        Self.wire.write(self, to: &writer)
        writer.littleEndian(crc32c(writer.bytes))
        return Array(writer.bytes)
    }
}

/// The name of a projection, with a number.
private struct NumberedName {
    var name: Name
    var number: UInt64

    static let wire = WireTable(Self(name: "", number: 0), [.name(1, \.name), .number(2, \.number)])
}

/// The progress of a shadow: states that a replay writes next to the live ones.
package struct Shadow: Hashable, Sendable {
    /// The number of its generation.
    package fileprivate(set) var generation: UInt64
    /// The projections that are folded, with their revisions.
    package fileprivate(set) var projections: [Projected]
    /// No event after this position is folded; nil for all events.
    package fileprivate(set) var until: Position?
    /// The users whose states are folded, ascending; empty for all users.
    package fileprivate(set) var users: [UInt64]
    /// The last position of the log when the present pass over the users began.
    package var begun: UInt64
    /// A pass after the first one folds the events recorded during the pass before.
    package var pass: UInt64 = 1
    /// The last user whose states are written in this pass.
    package var user: UInt64 = 0
    /// States written.
    package var states: UInt64 = 0
    /// Events folded.
    package var events: UInt64 = 0
    /// Tells whether it may be swapped.
    package var isComplete = false

    /// A projection and the revision of its code.
    package struct Projected: Hashable, Sendable {
        package let name: Name
        package let revision: UInt32
    }

    /// Tells whether a replay of the same projections, users and events goes on here.
    func isSameWork(as other: Shadow) -> Bool {
        projections == other.projections && until == other.until && users == other.users
    }
}

extension Shadow {
    fileprivate static let wire = WireTable(
        Shadow(generation: 0, projections: [], until: nil, users: [], begun: 0),
        [
            .number(1, \.generation),
            .messages(2, NumberedName.wire) {
                $0.projections.map { NumberedName(name: $0.name, number: UInt64($0.revision)) }
            } add: {
                $0.projections.append(Projected(name: $1.name, revision: UInt32(truncatingIfNeeded: $1.number)))
            },
            WireField(number: 3, type: .varint) { shadow, writer in
                if let until = shadow.until { writer.field(3, varint: until.rawValue) }
            } read: {
                $0.until = Position(rawValue: $1.varint())
            },
            WireField(number: 4, type: .bytes) { shadow, writer in
                if shadow.users.isEmpty { return }
                let begin = writer.beginMessage(4)
                for user in shadow.users { writer.varint(user) }
                writer.endMessage(begin)
            } read: { shadow, reader in
                var users = WireReader(reader.bytes())
                while !users.isAtEnd { shadow.users.append(users.varint()) }
            },
            .number(5, \.begun), .number(6, \.pass), .number(7, \.user), .number(8, \.states),
            .number(9, \.events), .flag(10, \.isComplete),
        ])
}
