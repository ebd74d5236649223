internal import Foundation
internal import HTTPTypes
internal import ProfileLog
internal import ProfileLogNativeAPI
internal import ProfileLogReplication
internal import ProfileLogRequests
internal import Synchronization

/// The service as a node of a cluster: its replica, and what requests, health and metrics ask of it.
final class ClusterNode: ClusterView {
    let replica: Replica
    private let cluster: String
    private let started = ContinuousClock.now
    /// The lag as it was last looked at: each read tells it, and a look reads the store.
    private let lastLook = Mutex<(at: ContinuousClock.Instant, currentAt: ContinuousClock.Instant?)?>(nil)

    private let monitors: BrokerMonitors
    /// The setting of the time for which the brokers keep a batch; nil: for ever.
    private let maxAge: Duration?
    /// The changes that the log was told of.
    private let news = Mutex(ClusterNews(from: 0, isBeginning: false))

    private init(_ replica: Replica, _ settings: ServiceSettings, _ monitors: BrokerMonitors) {
        (self.replica, self.monitors) = (replica, monitors)
        (cluster, maxAge) = (settings.clusterName, settings.streamMaxAge?.duration)
    }

    /// Joins the cluster that the settings name; nil without one. Waits for the brokers if the folder has no store yet.
    static func open(_ settings: ServiceSettings) throws -> ClusterNode? {
        guard settings.brokers != nil else { return nil }
        let node = try settings.nodeSettings()
        let monitors = settings.monitors
        let stream = try settings.batchStream(monitors)
        do throws(StreamError) {
            let replica = try Replica.open(stream, node, folder: settings.store)
            return ClusterNode(replica, settings, monitors)
        } catch {
            stream.close()
            throw error.atStart
        }
    }

    /// Begins to follow the stream, and to take writes.
    func start(_ log: EventLog) throws {
        let place = try log.reader.replicaPosition()
        do { try replica.start(log) } catch let error as StreamError { throw error.atStart }
        // A store that was of no cluster, or that was made just now of the node's own first message.
        let isNew = place == nil || replica.creation != nil && replica.status.preferred == replica.settings.name
        news.withLock { $0 = ClusterNews(from: place?.sequence ?? 1, isBeginning: isNew) }
    }

    /// The lines for the log about what has changed since the last call, in the view of `status`.
    func newLines(_ status: ReplicaStatus) -> [ClusterNews.Line] {
        let report = report(of: status)
        return news.withLock { $0.lines(of: report) }
    }

    /// Lets the last commits end soon, also where brokers do not answer.
    func willStop() { replica.willStop() }

    /// The time that the end of a service has for the cluster.
    private static let patience = Duration.seconds(5)

    /// Leaves the stream, and tells the other nodes. Returns soon also if the brokers do not answer: what is undecided,
    /// the next start settles.
    func stop() async {
        let replica = replica
        let (ended, end) = AsyncStream<Void>.makeStream()
        startThread("replica-stop") {
            replica.stop()
            end.finish()
        }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { for await _ in ended {} }
            group.addTask { try? await Task.sleep(for: Self.patience) }
            _ = await group.next()
            group.cancelAll()
        }
    }

    // MARK: - The state

    /// Tells whether this node stores what it is asked to write. Work that the service does by itself is done by that
    /// node alone.
    var isWriter: Bool { replica.writer == nil && replica.status.refusal == nil }

    /// The reason for which this node is degraded; nil if there is none.
    var healthReason: HealthReason? {
        replica.status.refusal.map { HealthReason(.cluster, error: $0.sentence, remedy: $0.remedy) }
    }

    var report: ClusterReport { report(of: replica.status) }

    private func report(of status: ReplicaStatus) -> ClusterReport {
        var report = ClusterReport(status, cluster: cluster, isWriter: isWriter)
        report.warnings = monitors.warnings(for: report.stream)
        if let stranger = status.stranger { report.warnings.append(ClusterReport.Reason(stranger)) }
        if let stream = status.stream, let warning = StreamAge.warning(found: stream.maxAge, wanted: maxAge) {
            report.warnings.append(ClusterReport.Reason(warning))
        }
        return report
    }

    /// The time since the node last knew that it has all batches; since its start, if it never did.
    func lag(of report: ClusterReport) -> Duration { report.lag ?? (ContinuousClock.now - started) }

    func rebuild() throws {
        do throws(StreamError) { try replica.rebuild() } catch { throw Self.refusal(error, code: "not_rebuilt") }
    }

    func keep(for age: Duration?) throws {
        do throws(StreamError) { try replica.keep(for: age) } catch { throw Self.refusal(error, code: "not_changed") }
    }

    private static func refusal(_ error: StreamError, code: String) -> APIError {
        let isBusy = error.kind == .unreachable
        return APIError(
            status: isBusy ? 503 : 409, code: isBusy ? "unavailable" : code, error: error.sentence,
            remedy: error.remedy, headers: isBusy ? [("Retry-After", "1")] : [])
    }

    // MARK: - Requests

    /// The header that every answer has.
    var header: HTTPField { HTTPField(name: .node, value: replica.settings.name) }

    /// The header of a read: how far what it tells may be behind.
    var lagHeader: HTTPField { HTTPField(name: .lag, value: ClusterReport.lagText(lag)) }

    /// The header of a write that was done here: any node that has reached this cursor has the write.
    func positionHeader(_ log: EventLog) -> HTTPField? {
        guard let cursor = try? log.withReader({ try $0.cursor(at: try $0.lastPosition()) }) else { return nil }
        return HTTPField(name: .position, value: cursor.description)
    }

    /// The reason not to answer a read here; nil if the store lags by `most` at most.
    func refusalOfRead(beyond most: Duration?) -> APIError? { ClusterReport.refusal(ofReadAt: lag, beyond: most) }

    /// The time for which one look at the lag counts.
    private static let lookInterval = Duration.milliseconds(10)

    /// The lag, at most a hundredth of a second too long.
    private var lag: Duration? {
        let now = ContinuousClock.now
        let known = lastLook.withLock { $0 }
        if let known, now - known.at < Self.lookInterval { return known.currentAt.map { now - $0 } }
        let lag = replica.status.lag
        lastLook.withLock { $0 = (now, lag.map { now - $0 }) }
        return lag
    }
}

extension StreamError {
    /// The error of a start that ends with it: no node goes on trying.
    fileprivate var atStart: StreamError {
        guard kind == .unreachable else { return self }
        return StreamError(
            kind, sentence, remedy: "Start the brokers, or correct --replicate, and start this program again.")
    }
}

extension HTTPField.Name {
    static let node = Self(known: "X-ProfileLog-Node")
    static let lag = Self(known: "X-ProfileLog-Lag")
    static let position = Self(known: "X-ProfileLog-Position")
}

// MARK: - The facts of the replica

extension ClusterReport {
    fileprivate init(_ status: ReplicaStatus, cluster: String, isWriter: Bool) {
        self.init(cluster: cluster, own: Node(status.node))
        others = status.others.map { Node($0) }
        preferred = status.preferred
        self.isWriter = isWriter
        lag = status.lag
        missing = status.missing
        refusal = status.refusal.map { Reason($0) }
        stream = status.stream.map { Stream($0) }
        hasUndecided = status.hasUndecided
        failOver = status.lastFailOver.map { FailOver(node: $0.node, ended: $0.ended, length: $0.length) }
        ownFailOver = status.ownFailOver?.length
        counts.published = status.counts.published
        counts.applied = status.counts.applied
        counts.decisionsAgain = status.counts.refused
        counts.undecided = status.counts.undecided
        counts.brokerChanges = status.counts.brokerChanges
    }
}

extension ClusterReport.Node {
    fileprivate init(_ node: NodeStatus) {
        self.init(
            name: node.name, instance: node.instance, url: node.url, sequence: node.sequence,
            position: node.position.rawValue, refusal: node.refusal, broker: node.broker, version: node.version,
            age: node.age)
    }
}

extension ClusterReport.Reason {
    fileprivate init(_ error: StreamError) { self.init(error.sentence, remedy: error.remedy) }
}

extension ClusterReport.Stream {
    fileprivate init(_ state: StreamState) {
        self.init(
            created: state.created, first: state.first, last: state.last, maxAge: state.maxAge, leader: state.leader,
            followers: state.followers.map { (broker: $0.key, isCurrent: $0.value) },
            faults: state.faults.map { ClusterReport.Reason($0) })
    }
}
