import ProfileLog
import TestSupport

/// Reads a whole store and tests what must hold in any, whatever happened to the processes that wrote it. Problems are
/// collected as text, for use on any thread.
struct StoreAudit: Sendable {
    private(set) var problems: [String] = []
    private(set) var events: [RecordedEvent] = []
    /// The tagged events of each append, by `ROUND.APPEND`.
    private(set) var appends: [String: [RecordedEvent]] = [:]

    /// - Parameter launchesInTurn: whether launches of one device never overlapped, so that each finds the one before
    /// it finished.
    init(_ log: EventLog, launchesInTurn: Bool = true) throws {
        try readEvents(log)
        checkOrder()
        checkAppends()
        let pending = checkFlushes(launchesInTurn)
        try comparePending(log, pending)
        try compareProfiles(log)
        let report = try log.check()
        problems += report.problems.map { "check: \($0)" }
        if report.events != UInt64(events.count) {
            problems.append("check saw \(report.events) of \(events.count) events")
        }
        let replay = try log.replay(threads: 2, verify: true)
        problems += replay.differences.map { "replay: \($0) differs" }
    }

    mutating func note(_ problem: String) { problems.append(problem) }

    private mutating func readEvents(_ log: EventLog) throws {
        let last = try log.lastPosition()
        while true {
            let page = try log.events(from: Position(rawValue: UInt64(events.count) + 1), limit: 5000)
            events += page.events
            if page.events.isEmpty { break }
        }
        if events.last?.position ?? .start != last {
            problems.append("the log ends at \(events.count), not at \(last.rawValue)")
        }
    }

    /// Positions and versions without gaps, time that never falls.
    private mutating func checkOrder() {
        var versions: [UserNumber: UInt64] = [:]
        var recordedAt = Timestamp(rawValue: .min)
        for (index, event) in events.enumerated() {
            let place = "position \(index + 1)"
            if event.position.rawValue != UInt64(index) + 1 {
                problems.append("\(place): found \(event.position.rawValue)")
            }
            versions[event.user, default: 0] += 1
            if event.version.rawValue != versions[event.user] {
                problems.append("\(place): version \(event.version.rawValue)")
            }
            if event.version.rawValue == 1, event.user != .system, event.event.kind != .userCreated {
                problems.append("\(place): a user begins with \(event.event.kind)")
            }
            if event.recordedAt < recordedAt { problems.append("\(place): recorded before the event before it") }
            recordedAt = event.recordedAt
        }
    }

    /// Each append whole, once and in one piece.
    private mutating func checkAppends() {
        var indexes: [String: [Int]] = [:]
        for event in events {
            guard let tag = event.tag else { continue }
            appends[tag.append, default: []].append(event)
            indexes[tag.append, default: []].append(tag.index)
            if indexes[tag.append]?.count == tag.count, indexes[tag.append] != Array(0..<tag.count) {
                problems.append("append \(tag.append): its events are in the order \(indexes[tag.append] ?? [])")
            }
        }
        for (name, events) in appends {
            guard let tag = events[0].tag, let last = events.last else { continue }
            if events.count != tag.count { problems.append("append \(name): \(events.count) of \(tag.count) events") }
            for position in events[0].position.rawValue...last.position.rawValue {
                let event = self.events[Int(position) - 1]
                let isHelper = event.event.kind == .userCreated || event.event.kind == .userChanged
                if event.tag?.append != name, !isHelper {
                    problems.append("append \(name): position \(position) is of another")
                }
            }
        }
    }

    private struct Waiting { let event: RecordedEvent, device: String, isVisible: Bool }

    /// Every saved item flushed or discarded at most once, by the last launch of its device, in the published order;
    /// and each launch finds the one before it finished. Answers what still waits.
    private mutating func checkFlushes(_ launchesInTurn: Bool) -> [String: Set<Position>] {
        var waiting: [Position: Waiting] = [:]
        var launches: [String: Position] = [:]
        var chunks: [Position: [UserNumber: UInt32]] = [:]
        var merged: [UserNumber: UserNumber] = [:]
        for event in events {
            let place = "position \(event.position.rawValue)"
            let device = event.context.device ?? ""
            switch event.event {
            case .customEventSaved, .customAttributesSaved, .userAttributeSaved:
                let isVisible = event.context.storage?.isVisibleToApp ?? false
                waiting[event.position] = Waiting(event: event, device: device, isVisible: isVisible)
            case .appLaunched:
                let before = launches[device] ?? .start
                let due = waiting.values.filter { $0.isVisible && $0.device == device && $0.event.position < before }
                if launchesInTurn, !due.isEmpty {
                    problems.append("\(place): \(due.count) items of the launch before still wait")
                }
                launches[device] = event.position
            case .pendingFlushed(let flush):
                if flush.launch != launches[device] {
                    problems.append("\(place): flushes for launch \(flush.launch.rawValue)")
                }
                let chunk = chunks[flush.launch, default: [:]][event.user, default: 0]
                if flush.chunk != chunk { problems.append("\(place): is chunk \(flush.chunk), not \(chunk)") }
                chunks[flush.launch, default: [:]][event.user] = chunk + 1
                var order: [PendingOrder] = []
                for item in flush.flushed {
                    guard let gone = waiting.removeValue(forKey: item) else {
                        problems.append("\(place): flushes \(item.rawValue), which does not wait")
                        continue
                    }
                    var owner = gone.event.user
                    while let target = merged[owner] { owner = target }
                    if !gone.isVisible || gone.device != device || owner != event.user || item > flush.launch {
                        problems.append("\(place): flushes \(item.rawValue), which is not its to flush")
                    }
                    order.append(PendingOrder(gone.event))
                }
                if order != order.sorted() { problems.append("\(place): flushes in a wrong order") }
            case .usersMerged(let merge): merged[merge.source] = event.user
            case .pendingDiscarded(let discard):
                for item in discard.positions where waiting.removeValue(forKey: item) == nil {
                    problems.append("\(place): discards \(item.rawValue), which does not wait")
                }
            default: break
            }
        }
        return waiting.values.reduce(into: [:]) { $0[$1.device, default: []].insert($1.event.position) }
    }

    /// Events, then custom attributes, then user attributes, each as saved.
    private struct PendingOrder: Comparable {
        let list: UInt8
        let position: Position

        init(_ event: RecordedEvent) {
            list = event.event.kind.rawValue
            position = event.position
        }

        static func < (left: Self, right: Self) -> Bool { (left.list, left.position) < (right.list, right.position) }
    }

    private mutating func comparePending(_ log: EventLog, _ pending: [String: Set<Position>]) throws {
        for device in try Set(log.reader.devices.all().map(\.text)).union(pending.keys) {
            let live = try log.reader.devices.pending(on: device).map(\.position)
            if Set(live) != pending[device, default: []] || live.count != pending[device, default: []].count {
                problems.append("on \(device), \(live.count) items wait, not \(pending[device, default: []].count)")
            }
        }
    }

    /// Snapshot and tail against the raw records folded one by one.
    private mutating func compareProfiles(_ log: EventLog) throws {
        var fresh: [UserNumber: ProfileState] = [:]
        try log.environment.withReadTransaction { transaction in
            guard !events.isEmpty else { return }
            try OpenStore.scan(log.environment.tables, from: 1, to: UInt64(events.count), transaction) {
                position, header in
                let user = UserNumber(rawValue: header.user)
                let view = EventView(header: header, position: Position(rawValue: position), names: log.names)
                if case .usersMerged(let merge)? = view.recorded()?.event, let source = fresh[merge.source] {
                    ProfileProjection.merge(source, into: &fresh[user, default: ProfileProjection.initial], by: view)
                }
                let items: [Position] =
                    switch events[Int(position) - 1].event {
                    case .pendingFlushed(let flush): flush.isQueued ? [] : flush.flushed
                    case .dataSent(let items): items
                    default: []
                    }
                for item in items {
                    guard let record = try transaction.get(log.environment.tables.log, item.rawValue),
                        let header = RecordHeader(record), RecordBody(header.body)?.erased == false
                    else { continue }
                    ProfileProjection.apply(
                        EventView(header: header, position: item, names: log.names, effect: view.position),
                        to: &fresh[user, default: ProfileProjection.initial])
                }
                ProfileProjection.apply(view, to: &fresh[user, default: ProfileProjection.initial])
                return true
            }
        }
        for (user, state) in fresh
        where try ProfileProjection.encode(log.profile(of: user)) != ProfileProjection.encode(state) {
            problems.append("the profile of user \(user.rawValue) is not what its events give")
        }
        let count = fresh.keys.count { $0 != .system }
        if try log.userCount() != UInt64(count) {
            problems.append("\(try log.userCount()) users are counted, not \(count)")
        }
    }
}
