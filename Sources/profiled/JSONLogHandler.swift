internal import Foundation
internal import Logging
internal import ProfileLog

/// Messages as one JSON object a line, on standard error.
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
        var json = JSONWriter()
        json.beginObject()
        json.key("time")
        json.value(Timestamp.now())
        json.key("level")
        json.value(event.level.rawValue)
        json.key("logger")
        json.value(label)
        json.key("message")
        json.value("\(event.message)")
        let all = metadata.merging(event.metadata ?? [:]) { $1 }
        for (name, value) in all.sorted(by: { $0.key < $1.key }) {
            json.key(name)
            switch value {
            case .stringConvertible(let number as Int): json.value(number)
            case .stringConvertible(let number as Double): json.value(number)
            default: json.value("\(value)")
            }
        }
        json.endObject()
        try? FileHandle.standardError.write(contentsOf: Data(json.bytes + [UInt8(ascii: "\n")]))
    }
}
