internal import ProfileLogRequests

/// The lines of a node's log about its cluster: one for each change, however often the node is looked at.
package struct ClusterNews: Sendable {
    /// A line of the log.
    package struct Line: Hashable, Sendable {
        package enum Level: Hashable, Sendable { case info, notice, warning }

        package let level: Level
        package let text: String
        /// The values that belong to the text, by their names.
        package let facts: [String: String]
    }

    /// A node without a note for so long has a line. Shorter silences are usual while a broker dies.
    private static let silence = Duration.seconds(5)
    /// Between two lines about the writer, and about the broker: they may go to and fro.
    private static let interval = Duration.seconds(10)

    /// The last batch that the store had at the start.
    private let first: UInt64
    /// Tells whether this node began the cluster.
    private let isBeginning: Bool
    private var hasToldStart = false
    private var hasToldEnd = false
    private var writer: (name: String, at: ContinuousClock.Instant)?
    private var broker: (name: String, at: ContinuousClock.Instant)?
    private var silent: Set<String> = []
    private var warnings: Set<ClusterReport.Reason> = []

    package init(from first: UInt64, isBeginning: Bool) { (self.first, self.isBeginning) = (first, isBeginning) }

    /// The lines about what has changed since the last look.
    package mutating func lines(of report: ClusterReport, at now: ContinuousClock.Instant = .now) -> [Line] {
        var lines = startLines(report)
        lines += endLines(report)
        lines += writerLines(report, now)
        lines += brokerLines(report, now)
        lines += nodeLines(report)
        lines += warningLines(report)
        return lines
    }

    /// The place at which it begins to follow, once a broker has answered.
    private mutating func startLines(_ report: ClusterReport) -> [Line] {
        guard !hasToldStart, report.stream != nil, let broker = report.own.broker else { return [] }
        hasToldStart = true
        let text = isBeginning ? "this node began the cluster" : "the node follows the cluster"
        let facts = ["cluster": report.cluster, "batch": "\(first)", "broker": broker]
        return [Line(level: .notice, text: text, facts: facts)]
    }

    private mutating func endLines(_ report: ClusterReport) -> [Line] {
        guard hasToldStart, !hasToldEnd, report.lag != nil else { return [] }
        hasToldEnd = true
        if isBeginning { return [] }
        let facts = ["batch": "\(report.own.sequence)", "position": "\(report.own.position)"]
        return [Line(level: .notice, text: "the node has caught up with the cluster", facts: facts)]
    }

    private mutating func writerLines(_ report: ClusterReport, _ now: ContinuousClock.Instant) -> [Line] {
        guard let name = report.preferred, name != writer?.name else { return [] }
        guard let before = writer else {
            writer = (name, now)
            return [Line(level: .info, text: "the preferred writer is known", facts: ["node": name])]
        }
        if now - before.at < Self.interval { return [] }
        writer = (name, now)
        return [Line(level: .notice, text: "the preferred writer changed", facts: ["from": before.name, "to": name])]
    }

    private mutating func brokerLines(_ report: ClusterReport, _ now: ContinuousClock.Instant) -> [Line] {
        guard let name = report.own.broker, name != broker?.name else { return [] }
        guard let before = broker else {
            broker = (name, now)
            return []
        }
        if now - before.at < Self.interval { return [] }
        broker = (name, now)
        return [Line(level: .notice, text: "the node changed its broker", facts: ["from": before.name, "to": name])]
    }

    private mutating func nodeLines(_ report: ClusterReport) -> [Line] {
        // Of two processes of one name the one that was heard last.
        let others = report.others.filter { $0.name != report.own.name }
        let ages = Dictionary(others.map { ($0.name, $0.age) }) { min($0, $1) }
        var lines: [Line] = []
        for (name, age) in ages.sorted(by: { $0.key < $1.key }) {
            if age >= Self.silence {
                guard silent.insert(name).inserted else { continue }
                let text = "no word came from another node for \(DurationText.compact(Self.silence))"
                lines.append(Line(level: .warning, text: text, facts: ["node": name]))
            } else if silent.remove(name) != nil {
                lines.append(Line(level: .notice, text: "the other node is back", facts: ["node": name]))
            }
        }
        return lines
    }

    private mutating func warningLines(_ report: ClusterReport) -> [Line] {
        let new = report.warnings.filter { !warnings.contains($0) }
        warnings = Set(report.warnings)
        return new.map { warning in
            let facts = ["reason": warning.error, "remedy": warning.remedy]
            return Line(level: .warning, text: "a warning about the cluster", facts: facts)
        }
    }
}
