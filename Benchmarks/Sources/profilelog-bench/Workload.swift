import Foundation
import ProfileLog

/// The input of a run: parsed before the clock starts, as the C program does.
struct WorkloadEvent: Sendable {
    let user: UserID
    let event: ProfileEvent
    let context: EventContext

    fileprivate init(_ line: AttributeValue) throws {
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

/// JSON Lines of the workload's shape, window by window, so that 100 million of them need no memory for all.
struct WorkloadReader {
    private let data: Data
    private var offset = 0

    init(_ path: String) throws { data = try Data(contentsOf: URL(fileURLWithPath: path), options: .alwaysMapped) }

    /// The next events, at most `limit`; none at the end.
    mutating func next(_ limit: Int) throws -> [WorkloadEvent] {
        var events: [WorkloadEvent] = []
        var begin = offset
        try data.withUnsafeBytes { bytes in
            while begin < bytes.count, events.count < limit {
                let rest = UnsafeRawBufferPointer(rebasing: bytes[begin...])
                var line = rest
                if let base = rest.baseAddress, let newline = memchr(base, 10, rest.count) {
                    line = UnsafeRawBufferPointer(rebasing: rest[..<(UnsafeRawPointer(newline) - base)])
                }
                if !line.isEmpty { events.append(try WorkloadEvent(JSON.parse(line))) }
                begin += line.count + 1
            }
        }
        offset = begin
        return events
    }
}

struct BenchmarkError: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
