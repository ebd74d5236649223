internal import CNATS
internal import ProfileLogFacts
internal import ProfileLogRecords
package import ProfileLogReplication
internal import Synchronization

/// The stream of a cluster on NATS JetStream, through libnats.
///
/// A broker need not be there: calls throw `.unreachable` until the connection comes, by itself. A call waits
/// for a connection that is being made, and fails at once when no broker can be reached.
package final class NATSStream: BatchStream {
    private let settings: NATSSettings
    private let configuration: StreamConfiguration
    private let link: NATSLink
    /// Tells whether JetStream has answered once.
    private let hasWorked = Atomic(false)

    /// The longest wait for an answer to anything but a publish.
    private static let timeout = Duration.seconds(2)
    /// The longest wait for making or deleting a stream: the brokers elect a leader for it.
    private static let changeTimeout = Duration.seconds(10)

    /// Begins to connect. Throws if the settings cannot be right, whatever the brokers say.
    package init(_ settings: NATSSettings) throws(StreamError) {
        try settings.check()
        self.settings = settings
        configuration = StreamConfiguration(settings: settings)
        link = NATSLink(settings)
        link.start()
    }

    deinit { link.close() }

    package var broker: String? { link.current?.broker }
    package func changeBroker() { link.changeBroker() }
    package func onNote(_ body: @escaping @Sendable ([UInt8]) -> Void) { link.onNote(body) }
    package func tell(_ note: [UInt8]) { try? link.current?.publish(settings.notes, note) }
    package func close() { link.close() }

    private func connection(until deadline: ContinuousClock.Instant) throws(StreamError) -> NATSConnection {
        do throws(StreamError) { return try link.connection(until: deadline) } catch { throw passing(error) }
    }

    /// `error`, as one that may pass by itself once all has worked: then it is a broker that stops, or an operator who
    /// is changing something, and the node goes on trying.
    private func passing(_ error: StreamError) -> StreamError {
        guard error.kind == .unfit, hasWorked.load(ordering: .relaxed) else { return error }
        return StreamError(.unreachable, error.sentence, remedy: error.remedy)
    }

    // MARK: - Publishing

    /// The most bytes that the headers add to a message.
    private static let headerBytes = 256
    /// The stream's `max_bytes` with `discard: new`; the brokers' limits of storage (errors.json of nats-server).
    private static let fullCodes: Set<Int64> = [10077, 10023, 10047]

    /// The condition is a header that we write, in exact case: the brokers ignore `nats-expected-last-sequence`, and
    /// libnats takes `ExpectLastSeq` 0 as no condition. `Nats-Msg-Id` would let a broker acknowledge other bytes, and
    /// `Nats-Expected-Last-Msg-Id` can destroy a replicated stream: neither is used.
    package func publish(_ message: [UInt8], after last: UInt64, timeout: Duration) -> PublishAnswer {
        let deadline = ContinuousClock.now + timeout
        let connection: NATSConnection
        do throws(StreamError) { connection = try self.connection(until: deadline) } catch {
            return .undecided(error.sentence)
        }
        // A broker ends the connection of a client that sends more, without an answer.
        guard message.count + Self.headerBytes <= connection.mostPayload else {
            return .tooLarge(
                "The batch is a message of \(message.count) bytes; broker \(connection.broker) takes "
                    + "\(connection.mostPayload).")
        }
        do throws(NATSError) {
            let answer = try connection.request(
                settings.subject, message,
                headers: [
                    ("Nats-Expected-Stream", settings.stream), ("Nats-Expected-Last-Sequence", String(last)),
                ], timeout: max(.milliseconds(1), deadline - .now))
            return acknowledgement(answer.bytes)
        } catch  where error.status == NATS_NO_RESPONDERS {
            return .undecided("No broker leads the stream \(settings.stream) now.")
        } catch {
            return .undecided(error.meaning(at: connection.broker).sentence)
        }
    }

    /// Reads the answer to a publish (nats-server: `JSPubAckResponse` in stream.go).
    private func acknowledgement(_ bytes: [UInt8]) -> PublishAnswer {
        guard let answer = try? JSON.parse(bytes) else { return .undecided("The brokers' answer cannot be read.") }
        if let error = answer.present("error") {
            let code = error["err_code"]?.asInteger ?? 0
            let text = "The brokers refuse it: \(error["description"]?.asText ?? "no reason given") (\(code))."
            return Self.fullCodes.contains(code) ? .full(text) : .undecided(text)
        }
        guard answer["stream"]?.asText == settings.stream, let sequence = answer["seq"]?.asInteger, sequence > 0 else {
            return .undecided("The brokers' answer is none of the stream \(settings.stream).")
        }
        return .stored(sequence: UInt64(sequence))
    }

    // MARK: - Reading

    /// The waits for the next message of a read, at each attempt. The brokers hand a read to any of them, and to one
    /// that is stopped or cut off as well, until the others give it up after a minute or two: another attempt finds
    /// another.
    private static let readTimeouts: [Duration] = [
        .milliseconds(200), .milliseconds(400), .milliseconds(800), .milliseconds(1600),
    ]

    /// Reads by one request without a consumer (ADR-31, batched direct get): any broker of the stream answers, with
    /// the messages and then a status. A broker that is late gives fewer.
    package func messages(from sequence: UInt64, count: Int) throws(StreamError) -> [StreamMessage] {
        let connection = try connection(until: .now + Self.timeout)
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("seq")
        writer.value(max(1, sequence))
        writer.key("batch")
        writer.value(max(1, count))
        writer.key("max_bytes")
        writer.value(4_000_000)
        writer.key("next_by_subj")
        writer.value(settings.subject)
        writer.endObject()

        var messages: [StreamMessage] = []
        var status: String?
        var isInOrder = true
        for wait in Self.readTimeouts {
            do throws(NATSError) {
                try connection.request(
                    "$JS.API.DIRECT.GET.\(settings.stream)", writer.bytes, timeout: wait
                ) { answer in
                    status = answer.status
                    guard status == nil else { return .end }
                    guard let found = answer.header("Nats-Sequence").flatMap({ UInt64($0) }),
                        found >= max(sequence, (messages.last?.sequence ?? 0) + 1)
                    else {
                        isInOrder = false
                        return .giveUp
                    }
                    messages.append(StreamMessage(sequence: found, bytes: answer.bytes))
                    return .goOn
                }
                break
            } catch  where error.status == NATS_NO_RESPONDERS {
                status = "503"
                break
            } catch {
                // What came is whole and in order.
                guard messages.isEmpty else { return messages }
                guard error.status == NATS_TIMEOUT, wait != Self.readTimeouts.last else {
                    throw passing(error.meaning(at: connection.broker))
                }
            }
        }
        guard isInOrder else {
            throw StreamError(
                .unreachable, "Broker \(connection.broker) answers with other messages than were asked for.",
                remedy: "Look at the broker's log; the node asks again.")
        }
        switch status {
        // The end of the batch, and nothing at or after the sequence.
        case "204", "404": return messages
        // No responders. The stream may be gone, or no broker of it is up: STREAM.INFO knows.
        case "503":
            _ = try information()
            throw StreamError(
                .unreachable, "No broker of the stream \(settings.stream) can be read.",
                remedy: "Look whether a majority of the brokers is up; the node goes on trying.")
        default:
            throw StreamError(
                .unreachable, "Broker \(connection.broker) refuses to be read: status \(status ?? "none").",
                remedy: "Look at the broker's log; the node asks again.")
        }
    }

    // MARK: - The stream

    package func state() throws(StreamError) -> StreamState {
        var info = StreamInfo(try information())
        let monitored = monitored()
        // Monitoring ports that do not answer take a moment each: the brokers' time is asked for after that.
        if !settings.monitors.isEmpty { info = StreamInfo(try information()) }
        guard var state = info.state else { throw JetStreamAnswer.unreadable }
        state.faults = configuration.faults(of: info.configuration)
        // A monitoring port may tell the same of the broker.
        state.faults += served(info, state.leader).filter { !monitored.contains($0) } + monitored
        return state
    }

    package func glance() throws(StreamError) -> StreamState {
        guard let state = StreamInfo(try information()).state else { throw JetStreamAnswer.unreadable }
        return state
    }

    /// The faults of the broker that leads the stream, and of the one of the connection.
    private func served(_ info: StreamInfo, _ leader: String?) -> [StreamError] {
        var faults: [StreamError] = []
        if !settings.anyVersion {
            // Before 2.11 no broker told its version.
            faults += .version(info.version ?? "2.10 or earlier", at: leader ?? broker ?? "of the stream")
        }
        if let connection = link.current, connection.mostPayload < StreamConfiguration.leastPayload {
            faults.append(.payload(connection.mostPayload, at: connection.broker))
        }
        return faults
    }

    package func create(first: UInt64) throws(StreamError) {
        let body = configuration.json(first: first)
        _ = try ask("STREAM.CREATE.\(settings.stream)", body, timeout: Self.changeTimeout)
    }

    package func keep(for age: Duration?) throws(StreamError) {
        let found = StreamInfo(try information()).configuration
        guard let body = StreamConfiguration.json(of: found, maxAge: age) else { throw JetStreamAnswer.unreadable }
        _ = try ask("STREAM.UPDATE.\(settings.stream)", body, timeout: Self.changeTimeout)
    }

    package func delete() throws(StreamError) {
        _ = try ask("STREAM.DELETE.\(settings.stream)", timeout: Self.changeTimeout)
    }

    private func information() throws(StreamError) -> AttributeValue {
        try ask("STREAM.INFO.\(settings.stream)", timeout: Self.timeout)
    }

    /// Calls JetStream's API.
    private func ask(_ call: String, _ body: [UInt8] = [], timeout: Duration) throws(StreamError) -> AttributeValue {
        let deadline = ContinuousClock.now + timeout
        let connection = try connection(until: deadline)
        let bytes: [UInt8]
        do throws(NATSError) {
            let rest = max(.milliseconds(1), deadline - .now)
            bytes = try connection.request("$JS.API.\(call)", body, timeout: rest).bytes
        } catch  where error.status == NATS_NO_RESPONDERS {
            throw passing(JetStreamAnswer.isOff(connection.broker))
        } catch {
            throw passing(error.meaning(at: connection.broker))
        }
        let answer = try JetStreamAnswer.read(bytes, settings)
        hasWorked.store(true, ordering: .relaxed)
        return answer
    }

    /// The faults by the monitoring ports. One that does not answer tells nothing: its broker may be down, as it may
    /// be.
    private func monitored() -> [StreamError] {
        guard let monitor = settings.monitor else { return [] }
        return settings.monitors.flatMap { url -> [StreamError] in
            guard let body = monitor((url.hasSuffix("/") ? String(url.dropLast()) : url) + "/varz") else { return [] }
            return BrokerReport(body, from: url)?.faults(anyVersion: settings.anyVersion) ?? [
                StreamError(
                    .unfit, "\(url) is no monitoring port of a broker.",
                    remedy: "Give the URL of the broker's http port, as http://\(broker ?? "broker"):8222.")
            ]
        }
    }
}
