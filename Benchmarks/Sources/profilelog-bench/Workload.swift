import Foundation
import ProfileLog

private let standardAttributes = Dictionary(uniqueKeysWithValues: StandardAttribute.allCases.map { ($0.name, $0) })

/// One line of the input. It cannot be copied, so that it is lent to the log as the C program lends its own.
struct WorkloadEvent: ~Copyable, Sendable {
    let user: UserID
    let event: ProfileEvent
    let context: EventContext

    fileprivate init(_ line: AttributeValue) throws {
        guard case .string(let user) = line["user"], case .string(let time) = line["time"],
            case .string(let kind) = line["kind"], let at = OccurredAt(iso8601: time)
        else { throw BenchmarkError("A line of the workload lacks user, time or kind.") }
        let event: ProfileEvent
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
            guard case .string(let name) = line["attribute"], let attribute = standardAttributes[name],
                let value = line["value"]
            else { throw BenchmarkError("A line names no standard attribute.") }
            event = .userAttributesChanged([UserAttributeChange(attribute, value)])
        }
        self.user = .externalID(user)
        self.event = event
        context = EventContext(source: .import, occurredAt: at)
    }

    func add(to builder: inout AppendBuilder) throws(AppendError) { try builder.add(event, to: user, context: context) }

    /// As `add(to:)`, on one of `devices`: saved there for its next launch, or logged.
    func add(to builder: inout AppendBuilder, devices: Int, isSaved: Bool) throws(AppendError) {
        let context = EventContext(
            source: .import, occurredAt: self.context.occurredAt, device: device(of: devices),
            storage: isSaved ? .appGroup("group.kitchen") : nil)
        try builder.add(isSaved ? saved : event, to: user, context: context)
    }

    /// The ID of the device with this number.
    static func device(_ number: Int) -> String { "phone \(number)" }

    /// One of `count` devices, always the same for the user.
    private func device(of count: Int) -> String {
        guard case .externalID(let id) = user else { return Self.device(0) }
        return Self.device(id.utf8.reduce(0) { hash, byte in (hash * 31 + Int(byte)) % count })
    }

    /// The same statement, to be saved.
    private var saved: ProfileEvent {
        switch event {
        case .customEventLogged(let logged): .customEventSaved(logged)
        case .customAttributesChanged(let changes): .customAttributesSaved(changes)
        case .userAttributesChanged(let changes): .userAttributeSaved(changes[0])
        default: event
        }
    }
}

/// The input of a run: parsed before the clock starts, as the C program does.
///
/// `@unchecked Sendable`: nothing changes once it is made.
final class Workload: @unchecked Sendable {
    let count: Int
    private let events: UnsafeMutablePointer<WorkloadEvent>

    fileprivate init(_ lines: [UnsafeRawBufferPointer]) throws {
        events = .allocate(capacity: max(lines.count, 1))
        var made = 0
        do {
            for line in lines {
                (events + made).initialize(to: try WorkloadEvent(AttributeValue(json: line)))
                made += 1
            }
        } catch {
            events.deinitialize(count: made)
            events.deallocate()
            throw error
        }
        count = made
    }

    deinit {
        events.deinitialize(count: count)
        events.deallocate()
    }

    func add(_ index: Int, to builder: inout AppendBuilder) throws(AppendError) { try events[index].add(to: &builder) }

    /// As `WorkloadEvent.add(to:devices:isSaved:)`.
    func add(
        _ index: Int, to builder: inout AppendBuilder, devices: Int, isSaved: Bool
    ) throws(AppendError) {
        try events[index].add(to: &builder, devices: devices, isSaved: isSaved)
    }

    /// When the event happened.
    func occurredAt(_ index: Int) -> OccurredAt? { events[index].context.occurredAt }
}

/// JSON Lines of the workload's shape, window by window, so that 100 million of them need no memory for all.
struct WorkloadReader {
    private let data: Data
    private var offset = 0

    init(_ path: String) throws { data = try Data(contentsOf: URL(fileURLWithPath: path), options: .alwaysMapped) }

    /// The next events, at most `limit`; none at the end.
    mutating func next(_ limit: Int) throws -> Workload {
        var begin = offset
        let workload = try data.withUnsafeBytes { bytes in
            var lines: [UnsafeRawBufferPointer] = []
            while begin < bytes.count, lines.count < limit {
                let rest = UnsafeRawBufferPointer(rebasing: bytes[begin...])
                var line = rest
                if let base = rest.baseAddress, let newline = memchr(base, 10, rest.count) {
                    line = UnsafeRawBufferPointer(rebasing: rest[..<(UnsafeRawPointer(newline) - base)])
                }
                if !line.isEmpty { lines.append(line) }
                begin += line.count + 1
            }
            return try Workload(lines)
        }
        offset = begin
        return workload
    }
}

struct BenchmarkError: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
