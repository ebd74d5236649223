import ProfileLog

/// The lines of a child before its end.
struct Answers: Sendable {
    struct Receipt: Sendable, Hashable {
        let name: String
        let isRepetition: Bool
        let first: UInt64
        let places: [String]
        let fingerprint: String
    }

    enum Outcome: Sendable { case stored, refused, closed, unknown }

    private(set) var acknowledged: [Receipt] = []
    /// Appends without tagged events.
    private(set) var done: [Receipt] = []
    /// Launch positions and flush positions.
    private(set) var launches: [(device: String, position: UInt64, flushes: [UInt64])] = []
    /// Appends that were refused or whose outcome is unknown, with the reason.
    private(set) var refused: [(name: String, reason: String)] = []
    private(set) var unknown: [(name: String, reason: String)] = []
    /// The answers to the commits, in turn.
    private(set) var order: [Outcome] = []
    private(set) var tried: [String] = []
    private(set) var complaints: [String] = []
    private(set) var wasOpened = false
    private(set) var hasEnded = false
    /// The coverage marks that it hit.
    private(set) var marks: Set<CoverageMark> = []
    /// The last position that the child read at its end.
    private(set) var lastRead: UInt64?

    init(_ lines: [String]) { for line in lines { add(line) } }

    mutating func add(_ line: String) {
        let parts = line.split(separator: " ").map(String.init)
        switch (parts.first, parts.count) {
        case ("open", 2): wasOpened = true
        case ("end", _): hasEnded = true
        case ("last", 2): lastRead = UInt64(parts[1])
        case ("mark", 2):
            if let mark = CoverageMark(rawValue: parts[1]) { marks.insert(mark) }
        case ("try", 2): tried.append(parts[1])
        case ("ack", 6):
            order.append(.stored)
            acknowledged.append(
                Receipt(
                    name: parts[1], isRepetition: parts[2] == "again", first: UInt64(parts[3]) ?? 0,
                    places: Self.list(parts[4]), fingerprint: parts[5]))
        case ("did", 4):
            order.append(.stored)
            done.append(
                Receipt(
                    name: parts[1], isRepetition: false, first: UInt64(parts[2]) ?? 0, places: Self.list(parts[3]),
                    fingerprint: ""))
        case ("launched", 5):
            order.append(.stored)
            let flushes = (Self.list(parts[3]) + Self.list(parts[4])).compactMap { UInt64($0) }
            launches.append((parts[1], UInt64(parts[2]) ?? 0, flushes))
        case ("refused", 3...):
            let reason = parts[2...].joined(separator: " ")
            order.append(reason == "closedAfterFailure" ? .closed : .refused)
            refused.append((parts[1], reason))
        case ("unknown", 3):
            order.append(.unknown)
            unknown.append((parts[1], parts[2]))
        default: complaints.append(line)
        }
    }

    private static func list(_ text: String) -> [String] {
        text == "-" ? [] : text.split(separator: ",").map(String.init)
    }

    /// Forgets the complaints that `isHarmless` accepts.
    mutating func forgiveComplaints(_ isHarmless: (String) -> Bool) { complaints.removeAll(where: isHarmless) }

    /// Each acknowledged append is in the store as it was answered, and no refused one is; but with `isLater`, another
    /// process may have sent that again.
    func problems(in audit: StoreAudit, isLater: Bool = false) -> [String] {
        var problems = complaints.map { "the child said: \($0)" }
        for receipt in acknowledged {
            let events = audit.appends[receipt.name] ?? []
            if events.isEmpty {
                problems.append("append \(receipt.name) was acknowledged and is lost")
            } else if fingerprint(events) != receipt.fingerprint {
                problems.append("append \(receipt.name) holds something else")
            }
        }
        for receipt in acknowledged + done {
            for (offset, place) in receipt.places.enumerated() {
                let position = Int(receipt.first) + offset
                guard position <= audit.events.count else {
                    problems.append("position \(position) of \(receipt.name) was acknowledged and is lost")
                    continue
                }
                let event = audit.events[position - 1]
                if "\(event.user.rawValue):\(event.version.rawValue)" != place {
                    problems.append("position \(position) of \(receipt.name) is not \(place)")
                }
                if !receipt.fingerprint.isEmpty, event.tag.map({ $0.append != receipt.name }) ?? false {
                    problems.append("position \(position) is not of append \(receipt.name)")
                }
            }
        }
        for launch in launches {
            if !audit.isKind(.appLaunched, launch.position) { problems.append("launch \(launch.position) is lost") }
            for flush in launch.flushes where !audit.isKind(.pendingFlushed, flush) {
                problems.append("flush \(flush) is lost")
            }
        }
        let stored = Set(acknowledged.map(\.name))
        if isLater { return problems }
        for refusal in refused where audit.appends[refusal.name] != nil && !stored.contains(refusal.name) {
            problems.append("append \(refusal.name) was refused (\(refusal.reason)) and is stored")
        }
        return problems
    }
}

extension StoreAudit {
    func isKind(_ kind: EventKind, _ position: UInt64) -> Bool {
        position > 0 && position <= events.count && events[Int(position) - 1].event.kind == kind
    }
}
