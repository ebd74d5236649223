internal import Foundation
internal import Logging
internal import ProfileLog

/// JSON as a value, for the answers of the service itself: `["status": "ok", "last_position": 12]`.
enum JSONLiteral: Sendable {
    case null, bool(Bool), integer(UInt64), number(Double), string(String)
    case array([JSONLiteral])
    /// Members in the order in which they are written.
    case object([(name: String, value: JSONLiteral)])
    /// As a member: none.
    case absent

    var bytes: [UInt8] {
        var writer = JSONWriter()
        write(to: &writer)
        return writer.bytes
    }

    private func write(to writer: inout JSONWriter) {
        switch self {
        case .null, .absent: writer.null()
        case .bool(let value): writer.value(value)
        case .integer(let value): writer.value(value)
        case .number(let value): writer.value(value)
        case .string(let value): writer.value(value)
        case .array(let elements):
            writer.beginArray()
            for element in elements { element.write(to: &writer) }
            writer.endArray()
        case .object(let members):
            writer.beginObject()
            for (name, value) in members {
                if case .absent = value { continue }
                writer.key(name)
                value.write(to: &writer)
            }
            writer.endObject()
        }
    }
}

extension JSONLiteral: ExpressibleByStringInterpolation, ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral,
    ExpressibleByDictionaryLiteral
{
    init(stringLiteral value: String) { self = .string(value) }
    init(booleanLiteral value: Bool) { self = .bool(value) }
    init(arrayLiteral elements: JSONLiteral...) { self = .array(elements) }
    init(dictionaryLiteral members: (String, JSONLiteral)...) { self = .object(members.map { ($0.0, $0.1) }) }
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
        let line = JSONLiteral.object(
            [
                ("time", .string(Timestamp.now().rfc3339())), ("level", .string(event.level.rawValue)),
                ("logger", .string(label)), ("message", "\(event.message)"),
            ] + all.map { ($0.key, Self.literal($0.value)) })
        try? FileHandle.standardError.write(contentsOf: Data(line.bytes + [UInt8(ascii: "\n")]))
    }

    private static func literal(_ value: Logger.Metadata.Value) -> JSONLiteral {
        switch value {
        case .stringConvertible(let number as Int) where number >= 0: .integer(UInt64(number))
        case .stringConvertible(let number as UInt64): .integer(number)
        case .stringConvertible(let number as Double): .number(number)
        default: "\(value)"
        }
    }
}
