internal import CNATS
internal import ProfileLogReplication

/// The answer of libnats when a call fails.
struct NATSError: Error {
    let status: natsStatus
    /// The library's text, in one line.
    let text: String

    init(_ status: natsStatus) {
        self.status = status
        let general = natsStatus_GetText(status).map { String(cString: $0) } ?? "error \(status.rawValue)"
        var last = NATS_OK
        // The text of this thread's last error, which may be that of an earlier call; a place in libnats' source may
        // be before it.
        guard let detail = nats_GetLastError(&last).map({ String(cString: $0) }), last == status, !detail.isEmpty else {
            text = general
            return
        }
        let line = detail.replacing("\n", with: " ")
        text = line.firstRange(of: "): ").map { line.hasPrefix("(") ? String(line[$0.upperBound...]) : line } ?? line
    }

    init(_ status: natsStatus, _ text: String) { (self.status, self.text) = (status, text) }

    static func check(_ status: natsStatus) throws(NATSError) {
        if status != NATS_OK { throw NATSError(status) }
    }

    /// The sentence for an operator, and the next step. `broker` is the one that was asked.
    func meaning(at broker: String) -> StreamError {
        switch status {
        case NATS_CONNECTION_AUTH_FAILED:
            StreamError(
                .unfit, "Broker \(broker) refuses the credentials: \(text).",
                remedy: "Give the user and password, the creds file or the NKey seed that the brokers know.")
        case NATS_NOT_PERMITTED:
            StreamError(
                .unfit, "Broker \(broker) does not permit it: \(text).",
                remedy:
                    "Permit the user to publish to profilelog.> and $JS.API.>, and to subscribe to profilelog.> and "
                    + "_INBOX.>.")
        case NATS_SECURE_CONNECTION_REQUIRED:
            StreamError(.unfit, "Broker \(broker) takes only TLS.", remedy: "Write tls:// before its name.")
        case NATS_SECURE_CONNECTION_WANTED:
            StreamError(
                .unfit, "Broker \(broker) has no TLS.",
                remedy: "Write nats:// before its name, or let the broker have a certificate.")
        case NATS_SSL_ERROR:
            StreamError(
                .unfit, "TLS with broker \(broker) fails: \(text).",
                remedy: "Look at the brokers' certificate, and at the file of the authority that signed it.")
        case NATS_TIMEOUT:
            StreamError(
                .unreachable, "Broker \(broker) gave no answer in time.",
                remedy: "Look whether a majority of the brokers is up and has a leader; the node goes on trying.")
        case NATS_CONNECTION_CLOSED, NATS_CONNECTION_DISCONNECTED, NATS_STALE_CONNECTION, NATS_INVALID_SUBSCRIPTION:
            StreamError(
                .unreachable, "The connection to broker \(broker) has ended.",
                remedy: "Look whether the broker is up; the node connects to the next one.")
        default:
            StreamError(
                .unreachable, "Broker \(broker) cannot be reached: \(text).",
                remedy: "Start the broker, or look at the network; the node goes on trying.")
        }
    }
}
