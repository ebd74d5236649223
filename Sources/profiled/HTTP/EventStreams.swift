internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import ProfileLogAPI
internal import ServiceLifecycle

/// Server-sent events: the log, told to readers for as long as they stay.
///
/// A slice is read only when the one before it has been taken by the connection, so a slow reader costs a slice and no more.
struct EventStreams: Sendable {
    /// The endpoint that tells them, to those who ask for `text/event-stream`.
    static let path = "/v1/events"
    private static let pollInterval = Duration.milliseconds(20)

    private let store: LiveStore
    private let metrics: ServiceMetrics
    private let most: Int
    private let heartbeat: Duration

    init(_ store: LiveStore, _ metrics: ServiceMetrics, most: Int, heartbeat: Duration) {
        self.store = store
        self.metrics = metrics
        self.most = most
        self.heartbeat = heartbeat
    }

    /// A place for one more stream; nil if all are taken.
    func takePlace() -> Place? { metrics.openStream(most: most) ? Place(metrics: metrics) : nil }

    /// A response that tells what `feed` has for as long as `isAllowed` and the reader stays.
    func response(
        _ feed: EventFeed, in place: Place, _ headers: [HTTPField],
        on connection: ConnectionContext,
        while isAllowed: @escaping @Sendable () -> Bool
    ) -> Response {
        let body = ResponseBody { writer in
            defer { withExtendedLifetime(place) {} }
            connection.endWithInput()
            try await withTaskExecutorPreference(globalConcurrentExecutor) {
                try await tell(feed, to: &writer) { connection.isOpen && isAllowed() }
            }
            try await writer.finish(nil)
        }
        return Response(
            status: .ok, headers: ServiceAnswer.fields(type: "text/event-stream", headers), body: body)
    }

    @concurrent
    private func tell(
        _ feed: EventFeed, to writer: inout any ResponseBodyWriter, while isWanted: () -> Bool
    ) async throws {
        var feed = feed
        // At once, so that the reader sees that it is connected.
        try await writer.write(ByteBuffer(string: ": events follow\n\n"))
        var lastWritten = ContinuousClock.now
        while isWanted(), !Task.isShuttingDownGracefully, !Task.isCancelled {
            if !feed.reads(store.api.log) {
                // Positions begin anew: what the reader remembers has no meaning any more.
                try await writer.write(ByteBuffer(string: "event: reset\nid: 0\ndata: {}\n\n"))
                return
            }
            let (bytes, isAtEnd) = feed.next()
            if !bytes.isEmpty {
                try await writer.write(ByteBuffer(bytes: bytes))
                lastWritten = .now
            } else if ContinuousClock.now - lastWritten >= heartbeat {
                try await writer.write(ByteBuffer(string: ": still here\n\n"))
                lastWritten = .now
            } else {
                try? await cancelWhenGracefulShutdown { try await Task.sleep(for: Self.pollInterval) }
            }
            if isAtEnd { return }
        }
    }

    /// One of the places; given back when the response ends, or was never written.
    final class Place: Sendable {
        private let metrics: ServiceMetrics

        fileprivate init(metrics: ServiceMetrics) { self.metrics = metrics }

        deinit { metrics.closeStream() }
    }
}
