internal import ProfileLogRequests

/// The member `times` of `GET /v1/history?parts=times`: events as columns of numbers, so that 100,000 of them are a few
/// megabytes and a page draws them without a loop over objects. What repeats is a number in a list.
struct EventColumns {
    private var users = Numbering<UserNumber>()
    private var kinds = Numbering<EventKind>()
    private var names = Numbering<NameKey>()
    private var devices = Numbering<Name>()
    /// The place of each event's first name, or of none.
    private var nameColumn: [[Int]] = []
    private var columns: [(user: Int, kind: Int, device: Int?)] = []
    private let events: [EventTimes]

    /// A name of the store, or a standard attribute, by its number.
    private enum NameKey: Hashable {
        case name(UInt32)
        case standard(UInt32)
    }

    /// The values that a column has, numbered from 0 in the order in which they come.
    private struct Numbering<Value: Hashable> {
        private(set) var values: [Value] = []
        private var numbers: [Value: Int] = [:]
        /// The number of the last value, which is often the next one too.
        private var last = 0

        mutating func number(of value: Value) -> Int {
            if last < values.count, values[last] == value { return last }
            last = numbers[value] ?? values.count
            if last == values.count {
                numbers[value] = last
                values.append(value)
            }
            return last
        }
    }

    init(_ events: [EventTimes]) {
        self.events = events
        nameColumn.reserveCapacity(events.count)
        columns.reserveCapacity(events.count)
        for event in events {
            let outline = event.outline
            let isStandard = if case .content(.userAttributes, _) = outline.kind.role { true } else { false }
            var own = outline.attributes.map { names.number(of: isStandard ? .standard($0) : .name($0)) }
            if outline.name > 0 { own.append(names.number(of: .name(outline.name))) }
            nameColumn.append(own)
            columns.append(
                (
                    users.number(of: UserNumber(rawValue: outline.user)), kinds.number(of: outline.kind),
                    outline.device.map { devices.number(of: Name($0)) }
                ))
        }
    }

    /// Writes the member.
    func write(in log: LogReader, to json: inout JSONWriter) throws {
        var ids = EventJSON(log: log)
        let known = log.names.current
        let outcomes = EventTimes.Outcome.allCases
        try json.object("times") { json in
            try json.objects("users", users.values) { json, user in
                json.member("user", try ids.id(of: user).map(AttributeValue.string) ?? .null)
                json.member("user_number", user.rawValue)
            }
            json.array("kinds", kinds.values) { $0.value($1.name) }
            json.array("names", names.values) { json, key in
                switch key {
                case .name(let number): json.value(known.name(number)?.text ?? "")
                case .standard(let number):
                    json.value(StandardAttribute(rawValue: UInt8(truncatingIfNeeded: number))?.name ?? "")
                }
            }
            json.array("devices", devices.values) { $0.value($1.text) }
            json.array("outcomes", outcomes) { $0.value($1.rawValue) }
            json.array("position", events) { $0.value($1.position) }
            json.array("version", events) { $0.value($1.outline.version) }
            json.array("user", columns) { $0.value($1.user) }
            json.array("kind", columns) { $0.value($1.kind) }
            json.array("name", nameColumn) { json, own in
                switch own.count {
                case 0: json.null()
                case 1: json.value(own[0])
                default: json.array(own) { $0.value($1) }
                }
            }
            json.array("recorded_ms", events) { $0.value($1.outline.recordedAt.milliseconds) }
            json.array("occurred_ms", events) { $0.value($1.outline.occurredAt.milliseconds) }
            json.array("device", columns) { Self.write($1.device, to: &$0) }
            json.array("outcome", events) { json, event in
                Self.write(event.outcome.flatMap { outcomes.firstIndex(of: $0) }, to: &json)
            }
            json.array("decided_by", events) { json, event in
                if let position = event.decidedBy { json.value(position) } else { json.null() }
            }
        }
    }

    private static func write(_ number: Int?, to json: inout JSONWriter) {
        if let number { json.value(number) } else { json.null() }
    }

    /// The form of the member.
    static let shape: AnswerShape = [
        "users": [["user": .orNull(.text), "user_number": .integer]], "kinds": [.text], "names": [.text],
        "devices": [.text], "outcomes": [.text], "position": [.integer], "version": [.integer], "user": [.integer],
        "kind": [.integer], "name": [.orNull(.either([.integer, [.integer]]))], "recorded_ms": [.integer],
        "occurred_ms": [.integer], "device": [.orNull(.integer)], "outcome": [.orNull(.integer)],
        "decided_by": [.orNull(.integer)],
    ]
}

extension Timestamp {
    /// Whole milliseconds since 1970, rounded down.
    fileprivate var milliseconds: Int64 {
        let (quotient, remainder) = rawValue.quotientAndRemainder(dividingBy: 1_000)
        return remainder < 0 ? quotient - 1 : quotient
    }
}
