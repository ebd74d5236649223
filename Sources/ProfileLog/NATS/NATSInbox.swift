internal import Synchronization

/// Subjects for answers, below one subscription. One request uses it at a time, with a subject of its own: the brokers
/// may acknowledge a publish twice, seconds later, and no request may take the answer of another.
final class NATSInbox: Sendable {
    private let prefix: String
    private let answers: NATSSubscription
    private let requests = Atomic<UInt64>(0)

    /// `answers` is a subscription to all subjects one level below `prefix`.
    init(_ prefix: String, _ answers: NATSSubscription) { (self.prefix, self.answers) = (prefix, answers) }

    /// The subject for the answers of the next request.
    func nextSubject() -> String { "\(prefix).\(requests.add(1, ordering: .relaxed).newValue)" }

    /// Waits for an answer to `subject`, and drops those to others.
    func next(to subject: String, timeout: Duration) throws(NATSError) -> NATSMessage {
        let deadline = ContinuousClock.now + timeout
        while true {
            let answer = try answers.next(timeout: deadline - .now)
            if answer.subject == subject { return answer }
        }
    }

    /// Lets the broker send no more.
    func end() { answers.end() }
}
