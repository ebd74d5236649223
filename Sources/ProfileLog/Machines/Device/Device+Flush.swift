/// The input of a flush, which the device cannot know by itself.
package struct FlushInput: Hashable, Sendable {
    /// Items in one event.
    package var limit: Int
    /// The reason why the SDK sends at once what it gets, if it may.
    package var cause: SendCause
    /// Tells whether what the SDK gets stays in its queue in any case: the app dies before it is sent.
    package var staysQueued = false
    /// The storages on the device that the app sees.
    package var visible: Set<StorageCode> = []
    /// Items that the SDK refuses, with the reason.
    package var refused: [UInt64: String] = [:]

    package init(limit: Int, cause: SendCause = .foreground) { (self.limit, self.cause) = (limit, cause) }
}

extension Device {
    /// Saved items that the last launch must flush: saved before it, visible to the app, of its lists; of one owner, in
    /// the published order.
    ///
    /// An item saved after the launch waits for the next launch. An SDK that is disabled, or does not exist yet, takes
    /// nothing.
    package func due(_ visible: Set<StorageCode>, limit: Int) -> [PendingItem] {
        guard state.status.settings.isSDKEnabled, state.status.settings.push.hasInstance else { return [] }
        let due = state.items.values.filter { item in
            guard item.queued == nil, let kind = item.kind else { return false }
            return item.position < state.status.launch && state.status.lists.contains(kind)
                && visible.contains(item.storage)
        }
        guard let user = due.map(owner).min() else { return [] }
        let items = due.filter { owner(of: $0) == user }.sorted {
            ($0.kind?.rawValue ?? 0, $0.position) < ($1.kind?.rawValue ?? 0, $1.position)
        }
        return Array(items.prefix(limit))
    }

    func flush(_ input: FlushInput) -> [Action] {
        let items = due(input.visible, limit: input.limit)
        guard let user = items.first.map(owner) else { return [] }
        var flush = Flush(
            launch: Position(rawValue: state.status.launch), chunk: state.status.chunks[user] ?? 0, flushed: [])
        for item in items {
            let position = Position(rawValue: item.position)
            if let reason = input.refused[item.position] {
                flush.rejected.append(.init(position: position, reason: reason))
            } else {
                flush.flushed.append(position)
            }
        }
        // The SDK sends in order: while its queue is not empty, everything is queued.
        let isSent = !input.staysQueued && state.queue.isEmpty && maySend(input.cause)
        flush.isQueued = !isSent && !flush.flushed.isEmpty
        return [Action(.pendingFlushed(flush), .user(user))]
    }
}
