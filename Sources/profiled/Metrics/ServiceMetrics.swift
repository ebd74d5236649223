internal import CoreMetrics
internal import ProfileLog
internal import ProfileLogAPI
internal import Synchronization

/// What the service counts and measures, under the names that docs/service.md lists. No name of a person is in any label.
final class ServiceMetrics: Sendable {
    private let registry = PrometheusRegistry()
    private let openStreams = Atomic<Int>(0)
    private let commitTime: Timer
    private let commitEvents: Recorder

    private struct AnswerKind: Hashable {
        var method: String
        var template: String
        var status: Int
    }

    private struct AnswerSeries {
        var count: Counter
        var time: Timer
    }

    private let answers = Mutex<[AnswerKind: AnswerSeries]>([:])

    init() {
        commitTime = Timer(label: "profilelog_commit_seconds", dimensions: [], factory: registry)
        commitEvents = Recorder(label: "profilelog_commit_events", dimensions: [], aggregate: true, factory: registry)
    }

    /// Counts a commit: for the options of a log.
    func record(_ commit: CommitReport) {
        commitTime.recordNanoseconds(Int64(commit.duration / .nanoseconds(1)))
        commitEvents.record(commit.events)
    }

    /// Counts an answer.
    func record(method: String, template: String, status: Int, took duration: Duration) {
        let method = ["GET", "POST"].contains(method) ? method : "other"
        let series = series(AnswerKind(method: method, template: template, status: status))
        series.count.increment()
        series.time.recordNanoseconds(Int64(duration / .nanoseconds(1)))
    }

    /// What to add an answer of this kind to; looked up by its labels once.
    private func series(_ kind: AnswerKind) -> AnswerSeries {
        answers.withLock { answers in
            if let series = answers[kind] { return series }
            let endpoint = [("method", kind.method), ("endpoint", kind.template)]
            let series = AnswerSeries(
                count: Counter(
                    label: "profiled_requests_total", dimensions: endpoint + [("status", "\(kind.status)")],
                    factory: registry),
                time: Timer(label: "profiled_request_seconds", dimensions: endpoint, factory: registry))
            answers[kind] = series
            return series
        }
    }

    /// Takes one of `most` places for a stream of events; false if all are taken.
    func openStream(most: Int) -> Bool {
        if openStreams.add(1, ordering: .relaxed).newValue <= most { return true }
        closeStream()
        return false
    }

    func closeStream() { openStreams.subtract(1, ordering: .relaxed) }

    /// Everything, in the text format of Prometheus.
    func answer(_ api: API) -> ServiceAnswer {
        gauge("profiled_streams_open", openStreams.load(ordering: .relaxed))
        gauge("profilelog_writes_waiting", api.activity.waiting)
        if let extent = try? api.log.extent() {
            gauge("profilelog_last_position", Int(clamping: extent.lastPosition.rawValue))
            gauge("profilelog_index_lag_events", Int(clamping: extent.lastPosition.rawValue - extent.indexed.rawValue))
            gauge("profilelog_store_bytes", Int(clamping: extent.usedBytes))
            gauge("profilelog_users", Int(clamping: extent.users))
        }
        // Counters of others, which begin with the process too.
        var text = registry.text
        text += "# TYPE profilelog_appends_total counter\nprofilelog_appends_total \(api.activity.appends)\n"
        text +=
            "# TYPE profilelog_events_appended_total counter\nprofilelog_events_appended_total \(api.activity.events)\n"
        return ServiceAnswer(status: 200, body: Array(text.utf8), type: "text/plain; version=0.0.4; charset=utf-8")
    }

    private func gauge(_ name: String, _ value: Int) {
        Meter(label: name, dimensions: [], factory: registry).set(value)
    }
}
