internal import Foundation
internal import Logging
internal import ProfileLog

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
