import ProfileLogNativeAPI
import Synchronization
import Testing

/// The monitoring ports of brokers, which answer what the test says.
@Suite("What is not known without the brokers' monitoring ports")
struct BrokerMonitorsTests {
    private final class Ports: Sendable {
        private let names = Mutex<[String: String]>([:])

        /// Lets the port at `url` name a broker; nil for no answer.
        func set(_ url: String, _ name: String?) { names.withLock { $0[url + "/varz"] = name } }

        func answer(_ page: String) -> [UInt8]? {
            names.withLock { $0[page] }.map { Array(#"{"server_name":"\#($0)","version":"2.15.1"}"#.utf8) }
        }
    }

    private static let stream = ClusterReport.Stream(
        created: "", first: 1, last: 2, leader: "n2", followers: [(broker: "n1", isCurrent: true)])

    /// Asks all ports at `urls`, and tells what is not known then.
    private func warnings(
        _ monitors: BrokerMonitors, _ urls: [String], _ stream: ClusterReport.Stream? = BrokerMonitorsTests.stream
    ) -> [String] {
        for url in urls { _ = monitors.content(of: url + "/varz") }
        return monitors.warnings(for: stream).map(\.error)
    }

    @Test("A monitor that does not answer is named until it answers, and none is before it was asked")
    func silent() {
        let (ports, urls) = (Ports(), ["http://n1:822", "http://n1:8222"])
        let monitors = BrokerMonitors(urls) { ports.answer($0) }
        #expect(warnings(monitors, []) == [])
        ports.set(urls[1], "n1")
        let silent = "The monitor http://n1:822 does not answer: whether the broker syncs each message to its disk is "
        #expect(warnings(monitors, urls) == [silent + "not known."])
        #expect(
            monitors.warnings(for: nil).map(\.remedy) == [
                "Correct --broker-monitor, or let this node reach the port."
            ])
        ports.set(urls[0], "n2")
        #expect(warnings(monitors, urls) == [])
        ports.set(urls[1], nil)
        #expect(warnings(monitors, urls).count == 1)
    }

    @Test("A broker of the stream that no monitor names is told, once all monitors have answered")
    func unnamed() {
        let (ports, urls) = (Ports(), ["http://a", "http://b"])
        let monitors = BrokerMonitors(urls) { ports.answer($0) }
        ports.set(urls[0], "n1")
        ports.set(urls[1], "n9")
        #expect(warnings(monitors, [urls[0]]) == [])
        let unknown = "No monitor is that of broker n2: whether it syncs each message to its disk is not known."
        #expect(warnings(monitors, urls) == [unknown])
        // A broker that is alone does not name itself in the stream.
        #expect(warnings(monitors, urls, .init(created: "", first: 1, last: 2)) == [])
        #expect(warnings(monitors, urls, nil) == [])
    }

    @Test("Without a monitor in the settings there is no warning here: the start has one")
    func none() {
        #expect(warnings(BrokerMonitors([]) { _ in nil }, ["http://a"]) == [])
    }

    @Test("The page of a monitor is passed on as it came")
    func passed() {
        let ports = Ports()
        ports.set("http://a", "n1")
        let monitors = BrokerMonitors(["http://a/"]) { ports.answer($0) }
        #expect(monitors.content(of: "http://a/varz") == ports.answer("http://a/varz"))
        #expect(monitors.content(of: "http://b/varz") == nil)
    }
}
