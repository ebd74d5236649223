import Foundation
import ProfileLog

/// The input of a run: parsed before the clock starts, as the C program does.
struct WorkloadEvent: Sendable {
    let user: UserID
    let event: ProfileEvent
    let context: EventContext

    /// Reads JSON Lines of the workload's shape.
    static func load(_ path: String, limit: Int = .max) throws -> [WorkloadEvent] {
        let data = try Data(contentsOf: URL(fileURLWithPath: path), options: .alwaysMapped)
        var events: [WorkloadEvent] = []
        try data.withUnsafeBytes { bytes in
            var begin = 0
            while begin < bytes.count, events.count < limit {
                var end = begin
                if let found = memchr(bytes.baseAddress! + begin, 10, bytes.count - begin) {
                    end = UnsafeRawPointer(found) - bytes.baseAddress!
                } else {
                    end = bytes.count
                }
                if end > begin {
                    events.append(try WorkloadEvent(JSON.parse(UnsafeRawBufferPointer(rebasing: bytes[begin..<end]))))
                }
                begin = end + 1
            }
        }
        return events
    }

    private init(_ line: AttributeValue) throws {
        guard case .string(let user) = line["user"], case .string(let time) = line["time"],
            case .string(let kind) = line["kind"], let at = OccurredAt(iso8601: time)
        else { throw BenchmarkError("A line of the workload lacks user, time or kind.") }
        self.user = .externalID(user)
        context = EventContext(source: .import, occurredAt: at)
        switch kind {
        case "custom_event":
            guard case .string(let name) = line["name"], case .object(let properties) = line["properties"] else {
                throw BenchmarkError("A custom event lacks name or properties.")
            }
            event = .customEventLogged(CustomEvent(name: Name(name), properties: properties))
        case "custom_attribute":
            guard case .object(let attributes) = line["attributes"] else {
                throw BenchmarkError("A line lacks its attributes.")
            }
            event = .customAttributesChanged(attributes.map { AttributeChange($0.key, .set($0.value)) })
        default:
            guard case .string(let name) = line["attribute"], let attribute = StandardAttribute(name: name),
                let value = line["value"]
            else { throw BenchmarkError("A line names no standard attribute.") }
            event = .userAttributesChanged([UserAttributeChange(attribute, value)])
        }
    }
}

struct BenchmarkError: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
