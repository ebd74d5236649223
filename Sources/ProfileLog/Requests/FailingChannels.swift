internal import ProfileLogSnippets
internal import Synchronization

/// The channels that a test has told to fail. Messages to them are recorded as not sent.
///
/// They are kept in memory: a service starts with none.
package final class FailingChannels: Sendable {
    private let channels = Mutex<Set<MessageStep.Channel>>([])

    init() {}

    package var all: Set<MessageStep.Channel> { channels.withLock { $0 } }

    /// Lets all channels work again.
    package func clear() { channels.withLock { $0 = [] } }

    package func set(_ channel: MessageStep.Channel, fails: Bool) {
        channels.withLock { channels in
            if fails { channels.insert(channel) } else { channels.remove(channel) }
        }
    }
}
