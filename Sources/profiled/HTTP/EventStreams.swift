internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import ProfileLogNativeAPI
internal import ServiceLifecycle

/// Server-sent events: sends the log to connected readers. A slice is read when the connection has accepted the one
/// before it, so a slow reader costs one slice.
struct EventStreams: Sendable {
    /// A silent stream looks this often whether its reader is still there and may read.
    private static let lookInterval = Duration.milliseconds(50)

    let store: LiveStore
    let metrics: Metrics
    let live: LiveSettings

    /// A place for one more stream; nil if all are taken.
    func takePlace() -> Place? { metrics.openStream(limit: live.current.maxStreams) ? Place(metrics: metrics) : nil }

    /// A response that sends what `feed` has for as long as `isAllowed` and the reader stays.
    func response(
        _ feed: EventFeed, in place: Place, _ headers: [HTTPField], on connection: ConnectionContext,
        while isAllowed: @escaping @Sendable () -> Bool
    ) -> Response {
        let body = ResponseBody { writer in
            defer { withExtendedLifetime(place) {} }
            connection.endWithInput()
            try await withTaskExecutorPreference(SlowPath.reads) {
                try await send(feed, to: &writer) { connection.isOpen && isAllowed() }
            }
            try await writer.finish(nil)
        }
        return Response(status: .ok, headers: APIAnswer.fields(type: Endpoint.eventStream, headers), body: body)
    }

    @concurrent
    private func send(
        _ feed: EventFeed, to writer: inout any ResponseBodyWriter, while isWanted: () -> Bool
    ) async throws {
        var feed = feed
        // The headers are sent at once, so that the reader sees the connection.
        try await writer.write(ByteBuffer(string: feed.firstLine()))
        var lastWritten = ContinuousClock.now
        let heartbeat = live.current.heartbeat.duration
        while isWanted(), !Task.isShuttingDownGracefully, !Task.isCancelled {
            if !feed.reads(store.api.log) {
                // The store was emptied: the positions that the reader knows mean nothing now.
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
                let deadline = min(lastWritten + heartbeat, .now + Self.lookInterval)
                try? await cancelWhenGracefulShutdown { [feed] in try await feed.wait(until: deadline) }
            }
            if isAtEnd { return }
        }
    }

    /// One of the places; free again when the response has ended, or was never written.
    final class Place: Sendable {
        private let metrics: Metrics

        fileprivate init(metrics: Metrics) { self.metrics = metrics }

        deinit { metrics.closeStream() }
    }
}
