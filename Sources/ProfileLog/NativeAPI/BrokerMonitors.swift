internal import ProfileLogRequests
internal import Synchronization

/// The monitoring ports of a cluster's brokers (`--broker-monitor`) as they answered last, and what is not known
/// without an answer: there alone a broker says whether it syncs each message to its disk.
package final class BrokerMonitors: Sendable {
    /// The addresses, as an operator gave them.
    private let urls: [String]
    /// Gives the body of a GET of a URL; nil if there is no answer. It may block for half a second.
    private let get: @Sendable (_ url: String) -> [UInt8]?
    /// The broker that each port last named; nil where there was no answer.
    private let seen = Mutex<[String: String?]>([:])

    package init(_ urls: [String], get: @escaping @Sendable (_ url: String) -> [UInt8]?) {
        (self.urls, self.get) = (urls, get)
    }

    /// Asks one of the monitoring ports for the page at `page`, which begins with its URL, and keeps what came of it.
    package func content(of page: String) -> [UInt8]? {
        let body = get(page)
        // The longest: one may be the beginning of another one, as with ports 822 and 8222.
        let url = urls.filter { page.hasPrefix($0) }.max { $0.utf8.count < $1.utf8.count }
        guard let url else { return body }
        let name = body.map { (try? JSON.parse($0))?["server_name"]?.asText ?? "" }
        seen.withLock { $0[url] = .some(name) }
        return body
    }

    /// The facts that are not known of the brokers of `stream`, each with the next step; empty before a port was asked.
    package func warnings(for stream: ClusterReport.Stream?) -> [ClusterReport.Reason] {
        let seen = seen.withLock { $0 }
        let silent = urls.filter { url in seen[url].map { $0 == nil } ?? false }
        if !silent.isEmpty {
            return silent.map { url in
                .init(
                    "The monitor \(url) does not answer: whether the broker syncs each message to its disk is not "
                        + "known.",
                    remedy: "Correct --broker-monitor, or let this node reach the port.")
            }
        }
        // A broker that is alone has no name there.
        guard let stream, !urls.isEmpty, urls.allSatisfy({ seen[$0] != nil }) else { return [] }
        let brokers = [stream.leader].compactMap(\.self) + stream.followers.map(\.broker)
        let named = Set(seen.values.compactMap(\.self))
        return brokers.filter { !named.contains($0) }.sorted().map { broker in
            .init(
                "No monitor is that of broker \(broker): whether it syncs each message to its disk is not known.",
                remedy: "Name the monitors of all brokers with --broker-monitor.")
        }
    }
}
