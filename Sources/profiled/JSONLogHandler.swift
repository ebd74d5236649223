internal import Logging
public import ProfileLog

/// JSON as it is written in code, for the answers of the service itself: `["status": "ok", "last_position": .int(12)]`.
/// Members stay in their order, and one that is nil is none.
extension AttributeValue: ExpressibleByStringInterpolation, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral {
    /// Makes an array.
    public init(arrayLiteral elements: AttributeValue...) { self = .array(elements) }

    /// Makes an object.
    public init(dictionaryLiteral members: (String, AttributeValue?)...) {
        self = .members(members.compactMap { name, value in value.map { (name, $0) } })
    }

    static func members(_ members: [(String, AttributeValue)]) -> AttributeValue {
        .object(members.map { Member(Name($0.0), $0.1) })
    }

    init(_ number: UInt64) { self = .int(Int64(clamping: number)) }
}

/// Writes each message as one JSON object a line on standard error.
struct JSONLogHandler: LogHandler {
    let label: String
    var logLevel = Logger.Level.info
    var metadata: Logger.Metadata = [:]

    init(label: String) { self.label = label }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let all = metadata.merging(event.metadata ?? [:]) { $1 }.sorted { $0.key < $1.key }
        let line = AttributeValue.members(
            [
                ("time", .string(Timestamp.now().rfc3339())), ("level", .string(event.level.rawValue)),
                ("logger", .string(label)), ("message", "\(event.message)"),
            ] + all.map { ($0.key, Self.literal($0.value)) })
        Console.note(line.json)
    }

    private static func literal(_ value: Logger.Metadata.Value) -> AttributeValue {
        switch value {
        case .stringConvertible(let number as Int) where number >= 0: .int(Int64(number))
        case .stringConvertible(let number as UInt64): AttributeValue(number)
        case .stringConvertible(let number as Double): .double(number)
        default: "\(value)"
        }
    }
}
