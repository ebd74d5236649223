internal import ProfileLogRequests

/// The lines between a what-if and another program that folds profiles (docs/fold-protocol.md).
///
/// ```
/// → {"protocol":"profilelog-fold","version":1}
/// → {"names":{"first":1,"texts":["level","played"]}}
/// → {"rules":{"attribute_policies":{"level":"first"}}}
/// → {"event":{"position":2,"kind":"customEventLogged","name":"played",…},"record":"0114…"}
/// → {"end":1}
/// ← {"user":1,"profile":{"custom_events":{"played":1}}}
/// ```
package enum FoldProtocol {
    package static let name = "profilelog-fold"
    package static let version: Int64 = 1

    /// The value of every field of a profile, by group and name: the member `profile` of an answer.
    package static func write(_ state: ProfileState, _ names: NameMap, to json: inout JSONWriter) {
        let fields = FieldChange.all(from: nil, to: state, names)
        json.object("profile") { json in
            for group in FieldChange.Group.allCases {
                json.object(group.rawValue) { json in
                    for field in fields where field.group == group {
                        if let value = field.after { json.member(field.field, JSONValues.json(value)) }
                    }
                }
            }
        }
    }

    /// Returns the differences between two such profiles. Groups that `after` does not have are not compared.
    package static func changes(from before: AttributeValue, to after: AttributeValue) -> [FieldChange] {
        func fields(_ profile: AttributeValue, _ group: FieldChange.Group) -> [Name: AttributeValue]? {
            guard case .object(let members)? = profile[Name(group.rawValue)] else { return nil }
            return Dictionary(members.map { ($0.key, $0.value) }) { $1 }
        }
        return FieldChange.Group.allCases.flatMap { group -> [FieldChange] in
            guard let wanted = fields(after, group) else { return [] }
            return FieldChange.between(group, fields(before, group) ?? [:], wanted)
        }
    }

    /// Writes the events of users, each in the order in which a profile folds them.
    package struct Sender {
        private let log: EventLog
        private let names: NameMap
        private var events: EventJSON
        /// The rules that were sent last; nil if none were.
        private var rules: BoundRules?

        /// Names of one line, and events of one read transaction.
        private static let sliceLength = 1000

        package init(_ log: EventLog) throws {
            self.log = log
            names = try log.withView { _ in log.names.current }
            events = EventJSON(log: log.reader)
        }

        /// The first lines: the protocol, and the names whose numbers are in records.
        package func opening() -> [UInt8] {
            var lines = Self.line { json in
                json.member("protocol", FoldProtocol.name)
                json.member("version", UInt64(FoldProtocol.version))
            }
            var first: UInt32 = 1
            while first <= names.count {
                let last = min(names.count, first + UInt32(Self.sliceLength) - 1)
                lines += Self.line { json in
                    json.object("names") { json in
                        json.member("first", UInt64(first))
                        json.array("texts", Array(first...last)) { $0.value(names.name($1)?.text ?? "") }
                    }
                }
                first = last + 1
            }
            return lines
        }

        /// The state of `user` after `version`, and what `send` got: their events in slices, then the line that ends
        /// the user.
        package mutating func send(
            _ user: UserNumber, at version: Version, _ send: ([UInt8]) throws -> Void
        ) throws -> AttributeValue {
            let (order, state) = try log.withView { view in
                var fold = FoldOrder()
                let positions = try view.positions(of: user.rawValue, from: 1, to: version.rawValue)
                return (
                    try log.states.driver(view).state(after: positions, &fold, from: view),
                    try log.states.state(ProfileProjection.self, user.rawValue, version: version.rawValue, view)
                )
            }
            for begin in stride(from: 0, to: order.count, by: Self.sliceLength) {
                var lines: [UInt8] = []
                let timeline = try log.withView { try log.states.rules($0) }
                for index in begin..<min(begin + Self.sliceLength, order.count) {
                    switch order[index] {
                    case .event(let position):
                        if let timeline { lines += line(of: timeline.rules(at: position)) }
                        lines += try line(position)
                    case .mergeBegins: lines += Self.line { $0.member("merge", "begin") }
                    case .mergeEnds:
                        // A merge goes by the rules of its event, which comes next.
                        if let timeline, index + 1 < order.count, case .event(let position) = order[index + 1] {
                            lines += line(of: timeline.rules(at: position))
                        }
                        lines += Self.line { $0.member("merge", "end") }
                    }
                }
                try send(lines)
            }
            try send(Self.line { $0.member("end", user.rawValue) })
            let profile = JSONWriter.bytes { FoldProtocol.write(state, names, to: &$0) }
            return try JSON.parse(profile, maxDepth: 100)["profile"] ?? .null
        }

        /// The line that says by which rules the next events are folded; none if that was said last.
        private mutating func line(of rules: BoundRules) -> [UInt8] {
            if rules.rules == self.rules?.rules ?? FoldRules() { return [] }
            self.rules = rules
            return Self.line { json in
                json.object("rules") { json in
                    for member in rules.rules.document { json.member(member.key.text, member.value) }
                }
            }
        }

        private mutating func line(_ position: UInt64) throws -> [UInt8] {
            let (event, record) = try log.withView { view in
                let header = try view.header(at: position)
                guard let event = RecordedEvent(header, position: Position(rawValue: position), names: names) else {
                    throw StorageError.damaged(place: "the record at position \(position) is unreadable")
                }
                return (event, header.record(recordedAt: header.recordedAt))
            }
            return try Self.line { json in
                try json.member("event") { try events.write(event, to: &$0) }
                json.member("record", Hexadecimal.text(record))
            }
        }

        private static func line(_ write: (inout JSONWriter) throws -> Void) rethrows -> [UInt8] {
            try JSONWriter.bytes(ofObject: write) + [UInt8(ascii: "\n")]
        }
    }

    /// Folds what a `Sender` writes: the other end, in this program.
    package struct Receiver {
        private var names = NameMap()
        private var state = ProfileProjection.initial
        /// The targets of the merges that are being folded.
        private var waiting: [ProfileState] = []
        private var isOpen = false
        private var rules = BoundRules(FoldRules(), names: NameMap())
        private let table = NameTable()
        private var items = SentItems()

        package init() {}

        /// A line that is none of the protocol.
        package struct Refusal: Error {
            package var reason: String
        }

        /// Takes in one line, and gives the answer if it ends a user.
        package mutating func answer(to line: [UInt8]) throws -> [UInt8]? {
            guard case .object(let members)? = try? JSON.parse(line, maxDepth: 100) else {
                throw Refusal(reason: "is no JSON object")
            }
            let fields = ImportFields(members)
            if let name = fields["protocol"] {
                guard name == .string(FoldProtocol.name), fields["version"] == .int(FoldProtocol.version) else {
                    throw Refusal(reason: "begins another protocol than \(FoldProtocol.name) \(FoldProtocol.version)")
                }
                isOpen = true
                return nil
            }
            guard isOpen else { throw Refusal(reason: "comes before the line that names the protocol") }
            switch (fields["names"], fields["record"], fields["merge"], fields["end"]) {
            case (let names?, nil, nil, nil): try add(names)
            case (nil, nil, nil, nil) where fields["rules"] != nil:
                guard case .object(let document)? = fields["rules"] else { throw Refusal(reason: "has no rules") }
                rules = BoundRules(FoldRules(stored: document), names: names)
            case (nil, .string(let record)?, nil, nil): try apply(record, fields["event"])
            case (nil, nil, .string("begin")?, nil):
                waiting.append(state)
                state = ProfileProjection.initial
            case (nil, nil, .string("end")?, nil):
                guard var target = waiting.popLast() else { throw Refusal(reason: "ends a merge that did not begin") }
                ProfileProjection.merge(state, into: &target, under: rules)
                state = target
            case (nil, nil, nil, .int(let user)?):
                defer { (state, waiting, items) = (ProfileProjection.initial, [], SentItems()) }
                return JSONWriter.bytes { json in
                    json.member("user", UInt64(clamping: user))
                    FoldProtocol.write(state, names, to: &json)
                }
            default: throw Refusal(reason: "has none of names, event, merge and end")
            }
            return nil
        }

        private mutating func add(_ slice: AttributeValue) throws {
            guard slice["first"] == .int(Int64(names.count) + 1), case .array(let texts)? = slice["texts"] else {
                throw Refusal(reason: "has names whose numbers do not follow the last ones")
            }
            for case .string(let text) in texts { names.add(Name(text)) }
            rules = rules.bound(to: names)
        }

        private mutating func apply(_ record: String, _ event: AttributeValue?) throws {
            guard let bytes = Hexadecimal.bytes(record), case .int(let position)? = event?["position"], position > 0,
                bytes.withUnsafeBytes(RecordHeader.hasRightChecksum)
            else { throw Refusal(reason: "has an event without its position or its record") }
            try bytes.withUnsafeBytes { bytes in
                guard let header = RecordHeader(bytes) else { throw Refusal(reason: "has an unreadable record") }
                if header.isItem { try items.keep(bytes, at: UInt64(position)) }
                var fold = ProjectionFold<ProfileProjection>()
                try FoldDriver(names: table, rules: RulesTimeline(always: rules))
                    .apply(header, at: UInt64(position), to: &state, &fold, from: items)
            }
        }
    }
}

/// The saved and queued events of a user that were sent: an outcome names them by position.
private final class SentItems: FoldSource {
    private var records: [UInt64: (bytes: UnsafeMutableRawBufferPointer, header: RecordHeader)] = [:]

    deinit { for record in records.values { record.bytes.deallocate() } }

    func keep(_ record: UnsafeRawBufferPointer, at position: UInt64) throws {
        if records[position] != nil { return }
        let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: record.count, alignment: 1)
        bytes.copyMemory(from: record)
        guard let header = RecordHeader(UnsafeRawBufferPointer(bytes)) else {
            bytes.deallocate()
            throw FoldProtocol.Receiver.Refusal(reason: "has an unreadable record")
        }
        records[position] = (bytes, header)
    }

    /// An event that was not sent is void or erased: it has no effect.
    func header(at position: UInt64) -> RecordHeader {
        records[position]?.header ?? RecordHeader(kind: .unknown, body: UnsafeRawBufferPointer(start: nil, count: 0))
    }

    /// Merges are lines of their own.
    func mergedPositions(_ header: RecordHeader, _ position: UInt64) -> [UInt64]? { nil }
    func voidChanges(by owner: UInt64, after begin: UInt64, before end: UInt64) -> [VoidChange] { [] }
    func prefetch(_ positions: [UInt64], _ index: Int) {}
}
