internal import CProgram
internal import ProfileLog
internal import ProfileLogNativeAPI
internal import ProfileLogRequests
internal import Synchronization

/// The service's counts and measures, in the text format of Prometheus; docs/service.md lists the names. No label holds
/// what a client sent: paths are templates, methods and codes are the service's own. So the number of series is bound.
final class Metrics: Sendable {
    private struct Endpoint: Hashable {
        var method: String
        var template: String
        var labels: String { "method=\"\(method)\",endpoint=\"\(template)\"" }
    }

    /// The number of answers with each status, and their durations.
    private struct Answers {
        var statuses: [Int: Int] = [:]
        var seconds = Histogram(bounds: Histogram.seconds)

        mutating func record(_ status: Int, _ duration: Duration) {
            statuses[status, default: 0] += 1
            seconds.record(duration / .seconds(1))
        }
    }

    private struct State {
        var answers: [Endpoint: Answers] = [:]
        var commitSeconds = Histogram(bounds: Histogram.seconds)
        var commitEvents = Histogram(bounds: Histogram.counts)
        var openStreams = 0
        /// The configuration of the start was good.
        var isLastReloadGood = true
        var lastGoodReload = Timestamp.now()
        var failedReloads = 0
        /// Requests whose answer is not ready.
        var inFlight = 0
        /// Answers by the word for their error. Those with an alert are there from the start: the increase of a counter
        /// begins with its second sample.
        var refusals = ["closed_after_failure": 0, "damaged": 0, "disk_full": 0, "files_changed": 0, "map_full": 0]
        /// The times at which the reads that keep old pages were first seen.
        var oldReaders: [PageUse.Reader: ContinuousClock.Instant] = [:]
    }

    private let state = Mutex(State())
    private let started = Timestamp.now()
    /// Of the backup that the service writes.
    let backups = BackupMetrics()
    /// Of the writes that another node should do.
    let forwarding = ForwardingCounts()

    /// A request is there; ``end()`` follows when its answer is ready.
    func begin() { state.withLock { $0.inFlight += 1 } }

    func end() { state.withLock { $0.inFlight -= 1 } }

    /// Counts a commit: for the options of a log.
    func record(_ commit: CommitReport) {
        state.withLock { state in
            state.commitSeconds.record(commit.duration / .seconds(1))
            state.commitEvents.record(Double(commit.events))
        }
    }

    func record(method: String, template: String, status: Int, code: String?, took duration: Duration) {
        let endpoint = Endpoint(method: ["GET", "POST"].contains(method) ? method : "other", template: template)
        state.withLock { state in
            state.answers[endpoint, default: Answers()].record(status, duration)
            if let code { state.refusals[code, default: 0] += 1 }
        }
    }

    /// Takes one of `limit` places for a stream of events; false if all are taken.
    func openStream(limit: Int) -> Bool {
        state.withLock { state in
            guard state.openStreams < limit else { return false }
            state.openStreams += 1
            return true
        }
    }

    func recordReload(isGood: Bool) {
        state.withLock { state in
            state.isLastReloadGood = isGood
            if isGood { state.lastGoodReload = .now() } else { state.failedReloads += 1 }
        }
    }

    func closeStream() { state.withLock { $0.openStreams -= 1 } }

    /// Everything, as of now. Numbers of the store are skipped while it cannot be read.
    func answer(
        _ store: LiveStore, _ connections: Connections.Counts, _ reads: Reads.Counts, _ health: HealthReasons,
        _ certificate: TLSCertificates.Report?, _ cluster: ClusterNode?
    ) -> APIAnswer {
        let state = state.withLock { $0 }
        var text = PrometheusText()
        addProcess(to: &text)
        add(state, connections, reads, to: &text)
        if let certificate { text.certificate(certificate, handshakesCut: connections.handshakesCut) }
        addStore(store, state, to: &text)
        if let cluster { Self.add(cluster, to: &text) }
        text.family("profiled_degraded", .gauge, "Reasons for which /health says degraded: 1 while one holds.")
        let reasons = Set(health.reasons.map(\.kind))
        for kind in HealthReason.Kind.allCases {
            text.sample("reason=\"\(kind.rawValue)\"", reasons.contains(kind) ? 1 : 0)
        }
        var answer = APIAnswer(status: 200, body: Array(text.text.utf8))
        answer.mediaType = "text/plain; version=0.0.4; charset=utf-8"
        return answer
    }

    // MARK: - Families

    private func addProcess(to text: inout PrometheusText) {
        let commit = String(cString: profilelog_commit())
        text.family("profiled_build_info", .gauge, "The version and commit of the program; always 1.")
        text.sample("version=\"\(ProgramVersion.number)\",commit=\"\(commit.isEmpty ? "unknown" : commit)\"", 1)
        let start = Double(started.rawValue) / 1e6
        text.single("process_start_time_seconds", .gauge, "When the process started, since 1970 UTC.", start)
        let usage = ProcessUsage()
        text.single("process_cpu_seconds_total", .counter, "Time of all cores together.", usage.cpuSeconds)
        if let bytes = usage.residentBytes {
            text.single(
                "process_resident_memory_bytes", .gauge, "Memory, with the pages of the store that are in it.", bytes)
        }
        if let files = usage.openFiles {
            text.single("process_open_fds", .gauge, "Open files and connections.", files)
        }
        if let files = usage.mostFiles {
            text.single("process_max_fds", .gauge, "How many may be open (RLIMIT_NOFILE).", files)
        }
    }

    private func add(
        _ state: State, _ connections: Connections.Counts, _ reads: Reads.Counts, to text: inout PrometheusText
    ) {
        let answers = state.answers.sorted { $0.key.labels < $1.key.labels }
        text.family("profiled_requests_total", .counter, "Requests answered.")
        for (endpoint, answer) in answers {
            for (status, count) in answer.statuses.sorted(by: { $0.key < $1.key }) {
                text.sample("\(endpoint.labels),status=\"\(status)\"", count)
            }
        }
        text.family("profiled_request_seconds", .histogram, "Time until the answer was ready.")
        for (endpoint, answer) in answers { text.histogram(endpoint.labels, answer.seconds) }
        text.family("profiled_refusals_total", .counter, "Requests refused, by the member code of the answer.")
        for (code, count) in state.refusals.sorted(by: { $0.key < $1.key }) {
            text.sample("code=\"\(code)\"", count)
        }
        text.single("profiled_requests_in_flight", .gauge, "Requests whose answer is not ready.", state.inFlight)
        text.single("profiled_streams_open", .gauge, "Readers of /v1/events.", state.openStreams)
        text.single("profiled_long_reads_running", .gauge, "Long reads that have a place.", reads.running)
        text.single("profiled_long_reads_waiting", .gauge, "Long reads that wait for a place.", reads.waiting)
        text.single("profiled_connections_open", .gauge, "Open connections.", connections.open)
        text.single(
            "profiled_connections_closed_total", .counter,
            "Idle and half-sent connections that were closed to make room.", connections.closed)
        text.single(
            "profiled_connections_refused_total", .counter,
            "Connections refused with 503 because their address had too many.", connections.refused)
        text.single(
            "profilelog_config_last_reload_successful", .gauge,
            "Whether the last SIGHUP, or the start, found a good configuration.", state.isLastReloadGood ? 1 : 0)
        text.single(
            "profilelog_config_last_reload_success_timestamp_seconds", .gauge,
            "When the configuration that holds was read.", state.lastGoodReload.rawValue / 1_000_000)
        text.single(
            "profilelog_config_reload_failures_total", .counter,
            "SIGHUPs that changed nothing, as the configuration had an error.", state.failedReloads)
    }

    private func addStore(_ store: LiveStore, _ state: State, to text: inout PrometheusText) {
        let api = store.api
        let activity = api.store.activity
        text.single(
            "profilelog_appends_total", .counter,
            "Appends of requests that were stored, without retries, imports, erasures and requests on devices.",
            activity.appends)
        text.single(
            "profilelog_events_appended_total", .counter, "Events of the appends in profilelog_appends_total.",
            activity.events)
        text.single("profilelog_writes_waiting", .gauge, "Writes that wait for the disk.", activity.waiting)
        text.family("profilelog_commit_seconds", .histogram, "Time of a commit, the wait for its lock included.")
        text.histogram("", state.commitSeconds)
        text.family("profilelog_commit_events", .histogram, "Events of a commit.")
        text.histogram("", state.commitEvents)
        write(backups.counts, to: &text)
        if let counts = forwarding.counts {
            text.family(
                "profiled_cluster_forwarded_total", .counter,
                "Writes that another node should do: by its answer, done here after all, or not known.")
            for outcome in ForwardingCounts.Outcome.allCases {
                text.sample("outcome=\"\(outcome.rawValue)\"", counts[outcome] ?? 0)
            }
        }
        text.single(
            "profilelog_store_usable", .gauge, "1 while the store can be read and written, as /health says.",
            store.failure == nil ? 1 : 0)
        text.single(
            "profilelog_damage_found_total", .counter, "Reads that met a damaged record or page.", KnownDamage.count)
        if let disk = DiskSpace(path: api.log.path) {
            text.single("profilelog_disk_free_bytes", .gauge, "Free space of the store's disk.", disk.free)
            text.single("profilelog_disk_size_bytes", .gauge, "Size of the store's disk.", disk.size)
        }
        guard let extent = try? api.log.reader.extent() else { return }
        let last = extent.lastPosition.rawValue
        text.single("profilelog_last_position", .gauge, "Position of the last event.", last)
        if last > 0, let time = try? api.log.withView({ try $0.header(at: $0.last).recordedAt }) {
            text.single(
                "profilelog_last_append_timestamp_seconds", .gauge, "When the last event was recorded.",
                Double(time) / 1e6)
        }
        text.single(
            "profilelog_index_lag_events", .gauge, "Events that the caches have not reached.",
            last - extent.indexed.rawValue)
        text.single("profilelog_store_bytes", .gauge, "Bytes of the store's file in use.", extent.usedBytes)
        if let use = try? api.log.environment.pageUse() {
            text.single(
                "profilelog_store_free_bytes", .gauge,
                "Bytes of profilelog_store_bytes in free pages, which the next commits use.", use.freeBytes)
            text.single("profilelog_readers", .gauge, "Reads of all processes that are under way.", use.readers.count)
            text.single(
                "profilelog_oldest_reader_commits", .gauge,
                "Commits since the state that the oldest read sees: pages of that time cannot be used again.",
                use.oldestReaderCommits)
            text.single(
                "profilelog_oldest_reader_seconds", .gauge,
                "For how long a read has kept old pages, since it was first seen.", oldestReaderSeconds(use))
        }
        text.single("profilelog_users", .gauge, "Users in the store.", extent.users)
        let audit = api.store.auditor.report
        text.single(
            "profilelog_audit_position", .gauge, "The log is proven to this position: see differences.",
            audit.last?.position.rawValue ?? 0)
        text.single(
            "profilelog_audit_timestamp_seconds", .gauge, "When the last round of the audit ended.",
            (audit.last?.at.rawValue ?? 0) / 1_000_000)
        text.single(
            "profilelog_audit_differences", .gauge, "States that are not what the log says.", audit.differences.count)
    }

    /// The time for which a read has been behind the newest commit. LMDB does not tell when it began: its age counts
    /// from the first time that it was seen here. A new read sees the newest commit, so one that is behind is an old
    /// one.
    private func oldestReaderSeconds(_ use: PageUse) -> Double {
        let now = ContinuousClock.now
        let behind = use.readers.filter { $0.commit < use.commit }
        let first = state.withLock { state -> ContinuousClock.Instant? in
            let known = state.oldReaders
            state.oldReaders = [:]
            for reader in behind { state.oldReaders[reader] = known[reader] ?? now }
            return state.oldReaders.values.min()
        }
        return first.map { (now - $0) / .seconds(1) } ?? 0
    }
}

extension Metrics {
    /// The families of a node of a cluster.
    private static func add(_ cluster: ClusterNode, to text: inout PrometheusText) {
        let report = cluster.report
        text.single(
            "profiled_cluster_lag_seconds", .gauge,
            "Time since this node last knew that it has all batches; since its start, if it never did.",
            cluster.lag(of: report) / .seconds(1))
        text.single(
            "profiled_cluster_missing_batches", .gauge, "Batches of other nodes that this node does not have yet.",
            report.missing)
        text.single(
            "profiled_cluster_sequence", .gauge, "Sequence in the stream of the last batch that this node has.",
            report.own.sequence)
        text.single("profiled_cluster_writable", .gauge, "1 while this node may write.", report.refusal == nil ? 1 : 0)
        text.single(
            "profiled_cluster_is_writer", .gauge, "1 while this node stores writes itself, and hands them to no other.",
            report.isWriter ? 1 : 0)
        text.single("profiled_cluster_nodes", .gauge, "Nodes that are alive, this one too.", report.aliveNodes)
        text.family(
            "profiled_cluster_batches_total", .counter,
            "Batches of this node that have their place, and those of others that it has applied.")
        text.sample("kind=\"applied\"", report.counts.applied)
        text.sample("kind=\"published\"", report.counts.published)
        text.single(
            "profiled_cluster_decisions_again_total", .counter,
            "Decisions that were made again, as another node was first.", report.counts.decisionsAgain)
        text.single(
            "profiled_cluster_undecided_total", .counter, "Batches sent without an acknowledgement.",
            report.counts.undecided)
        text.single(
            "profiled_cluster_broker_changes_total", .counter, "Times that this node left its broker for another.",
            report.counts.brokerChanges)
        text.single(
            "profiled_cluster_last_failover_seconds", .gauge,
            "How long the last batch of this node waited that had to wait for the brokers; 0 if none had.",
            (report.ownFailOver ?? .zero) / .seconds(1))
    }

    /// The families of the backup; none without one.
    private func write(_ backup: BackupMetrics.Counts?, to text: inout PrometheusText) {
        guard let backup else { return }
        func seconds(_ time: Timestamp?) -> Int64 { (time?.rawValue ?? 0) / 1_000_000 }
        text.single(
            "profilelog_backup_last_success_timestamp_seconds", .gauge, "When the last backup was complete.",
            seconds(backup.succeeded))
        text.single(
            "profilelog_backup_last_position", .gauge, "Position of the last event in the backup.",
            backup.position.rawValue)
        text.single(
            "profilelog_backup_duration_seconds", .gauge, "Time of the last complete backup.",
            backup.duration / .seconds(1))
        text.single(
            "profilelog_backup_verified_timestamp_seconds", .gauge,
            "When the backup was last read whole and was sound.",
            seconds(backup.verified))
        text.single(
            "profilelog_backup_interval_seconds", .gauge, "How long after a backup the next one begins.",
            backup.every / .seconds(1))
        text.single(
            "profilelog_backup_verify_interval_seconds", .gauge, "How often the backup is read whole.",
            backup.verifyEvery / .seconds(1))
        text.single(
            "profilelog_backup_segments_rewritten_total", .counter, "Segments that were written again for an erasure.",
            backup.rewritten)
        text.family("profilelog_backup_failures_total", .counter, "Backups and verifications that failed, by reason.")
        for (reason, count) in backup.failures.sorted(by: { $0.key < $1.key }) {
            text.sample("reason=\"\(reason)\"", count)
        }
    }
}

/// The number of values that were at most as large as each bound.
private struct Histogram: Sendable {
    static let seconds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
    static let counts = [1.0, 3, 10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000]

    let bounds: [Double]
    /// Values by the first bound that holds them; the last count is of those above all bounds.
    private(set) var counts: [Int]
    private(set) var sum = 0.0

    init(bounds: [Double]) {
        self.bounds = bounds
        counts = [Int](repeating: 0, count: bounds.count + 1)
    }

    mutating func record(_ value: Double) {
        counts[bounds.firstIndex { value <= $0 } ?? bounds.count] += 1
        sum += value
    }
}

/// Lines of the text format of Prometheus.
private struct PrometheusText {
    enum Kind: String { case counter, gauge, histogram }

    private(set) var text = ""
    private var name = ""

    /// Begins a family. The name of a counter ends in `_total`, that of a measure in its unit: seconds, bytes.
    mutating func family(_ name: String, _ kind: Kind, _ help: String) {
        self.name = name
        text += "# HELP \(name) \(help)\n# TYPE \(name) \(kind.rawValue)\n"
    }

    mutating func single(_ name: String, _ kind: Kind, _ help: String, _ value: some CustomStringConvertible) {
        family(name, kind, help)
        sample("", value)
    }

    mutating func certificate(_ report: TLSCertificates.Report, handshakesCut: Int) {
        let served = report.served
        single(
            "profilelog_tls_certificate_not_after_timestamp_seconds", .gauge,
            "When the certificate ends that is served.", served.end.rawValue / 1_000_000)
        family("profilelog_tls_certificate_info", .gauge, "The certificate that is served.")
        sample("serial=\"\(served.serial)\",names=\"\(served.names.joined(separator: ","))\"", 1)
        single(
            "profilelog_tls_reloads_total", .counter, "Times that the files of TLS were read again and served.",
            report.reloads)
        single(
            "profilelog_tls_reload_failures_total", .counter,
            "Times that the files of TLS could not be used, and the old certificate was served on.", report.failures)
        single(
            "profilelog_tls_handshakes_cut_total", .counter,
            "Connections that ended before their TLS handshake was done.", handshakesCut)
    }

    mutating func sample(_ labels: String, suffix: String = "", _ value: some CustomStringConvertible) {
        text += labels.isEmpty ? "\(name)\(suffix) \(value)\n" : "\(name)\(suffix){\(labels)} \(value)\n"
    }

    mutating func histogram(_ labels: String, _ values: Histogram) {
        var count = 0
        for (bound, more) in zip(values.bounds.map { "\($0)" } + ["+Inf"], values.counts) {
            count += more
            sample("\(labels.isEmpty ? "" : labels + ",")le=\"\(bound)\"", suffix: "_bucket", count)
        }
        sample(labels, suffix: "_sum", values.sum)
        sample(labels, suffix: "_count", count)
    }
}
