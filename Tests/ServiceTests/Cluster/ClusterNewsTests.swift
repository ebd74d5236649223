import ProfileLogNativeAPI
import Testing

/// The lines of a node's log about the cluster, by reports that the test makes.
@Suite("What a node tells its log of its cluster")
struct ClusterNewsTests {
    /// Node b at batch 41, at broker n1, with node a, which has written last.
    private static let report = {
        var report = ClusterReport(
            cluster: "shop",
            own: .init(name: "b", url: "http://b:8080", sequence: 41, position: 120, broker: "n1", version: "1"))
        report.others = [ClusterNewsTests.node("a")]
        report.preferred = "a"
        report.stream = .init(created: "", first: 1, last: 50, leader: "n1")
        return report
    }()

    private static func node(_ name: String, age: Duration = .milliseconds(100)) -> ClusterReport.Node {
        .init(name: name, url: "", sequence: 50, position: 150, version: "1", age: age)
    }

    /// The log of node b.
    private final class Watched {
        private let start = ContinuousClock.now
        private var news: ClusterNews

        init(from first: UInt64 = 40, isBeginning: Bool = false) {
            news = ClusterNews(from: first, isBeginning: isBeginning)
        }

        /// The lines of a look some seconds after the start, each with its facts.
        func look(after seconds: Int, _ change: (inout ClusterReport) -> Void = { _ in }) -> [String] {
            var report = ClusterNewsTests.report
            change(&report)
            return news.lines(of: report, at: start + .seconds(seconds)).map { line in
                let facts = line.facts.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
                return ([line.text] + facts).joined(separator: " ")
            }
        }
    }

    @Test("A node says once from which batch it follows, at which broker, and when it has caught up")
    func beginning() {
        let node = Watched()
        #expect(node.look(after: 0) { $0.stream = nil } == ["the preferred writer is known node=a"])
        #expect(node.look(after: 1) == ["the node follows the cluster batch=40 broker=n1 cluster=shop"])
        #expect(node.look(after: 2) == [])
        let end = node.look(after: 3) { report in
            report.lag = .milliseconds(3)
            report.own.sequence = 50
        }
        #expect(end == ["the node has caught up with the cluster batch=50 position=120"])
        #expect(node.look(after: 4) { $0.lag = .seconds(1) } == [])
        #expect(node.look(after: 5) == [])
    }

    @Test("The node that makes the cluster says that, and has nothing to catch up with")
    func founder() {
        let node = Watched(from: 1, isBeginning: true)
        let lines = node.look(after: 0) { $0.lag = .zero }
        #expect(lines.first == "this node began the cluster batch=1 broker=n1 cluster=shop" && lines.count == 2)
        #expect(node.look(after: 1) { $0.lag = .zero } == [])
    }

    @Test("Another writer and another broker are one line each, at most every ten seconds")
    func changes() {
        let node = Watched()
        _ = node.look(after: 0)
        #expect(node.look(after: 4) { $0.preferred = "b" } == [])
        let changed = node.look(after: 11) { report in
            report.preferred = "b"
            report.own.broker = "n2"
        }
        #expect(
            changed == ["the preferred writer changed from=a to=b", "the node changed its broker from=n1 to=n2"])
        // Without a broker for a moment, and back and forth.
        #expect(node.look(after: 12) { $0.own.broker = nil } == [])
        #expect(node.look(after: 13) == [])
        #expect(node.look(after: 22).count == 2)
    }

    @Test("A node that falls silent for five seconds has a line, and another one when it is back")
    func silence() {
        let node = Watched()
        _ = node.look(after: 0)
        func silent(_ seconds: Int) -> (inout ClusterReport) -> Void {
            { $0.others = [Self.node("a", age: .seconds(seconds)), Self.node("c")] }
        }
        #expect(node.look(after: 4, silent(4)) == [])
        #expect(node.look(after: 5, silent(5)) == ["no word came from another node for 5 s node=a"])
        #expect(node.look(after: 6, silent(6)) == [])
        // It is forgotten after some minutes.
        #expect(node.look(after: 700) { $0.others = [] } == [])
        #expect(node.look(after: 701) == ["the other node is back node=a"])
        // A process of the same name that was heard before it was started again.
        let again = node.look(after: 702) { $0.others = [Self.node("a", age: .seconds(9)), Self.node("a")] }
        #expect(again == [])
    }

    @Test("A warning is told when it comes, and again when it comes back")
    func warnings() {
        let node = Watched()
        _ = node.look(after: 0)
        let warn: (inout ClusterReport) -> Void = { $0.warnings = [.init("A monitor is silent.", remedy: "Mend it.")] }
        let line = "a warning about the cluster reason=A monitor is silent. remedy=Mend it."
        #expect(node.look(after: 1, warn) == [line])
        #expect(node.look(after: 2, warn) == [])
        #expect(node.look(after: 3) == [])
        #expect(node.look(after: 4, warn) == [line])
    }

    // MARK: - Readiness

    @Test("A node is not ready while it follows and has not reached the end; one that cannot follow serves what it has")
    func readiness() {
        var report = Self.report
        #expect(report.unready?.error.contains("at batch 41, and the stream ended at 50") == true)
        report.refusal = .init("No broker answers.", remedy: "Start them.")
        #expect(report.unready == nil)
        (report.refusal, report.lag) = (nil, .seconds(60))
        #expect(report.unready == nil)
        // No broker answered since its start.
        (report.stream, report.lag) = (nil, nil)
        #expect(report.unready == nil)
    }
}
