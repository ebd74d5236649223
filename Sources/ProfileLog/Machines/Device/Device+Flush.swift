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
    /// The next items of a device, for a caller who has looked for them: a search takes as long as the device has
    /// items.
    package struct NextItems: Hashable, Sendable {
        /// As `due` would find them, for the input that follows.
        package var due: [PendingItem]
        /// The next ones that are sent.
        package var queue: [PendingItem]
        /// Tells whether the SDK has taken something that it has not sent.
        package var hasQueue: Bool

        package init(due: [PendingItem], queue: [PendingItem], hasQueue: Bool) {
            (self.due, self.queue, self.hasQueue) = (due, queue, hasQueue)
        }
    }

    /// The first of `dueChunks`.
    package func due(_ visible: Set<StorageCode>, limit: Int) -> [PendingItem] {
        next?.due ?? dueChunks(visible, limit: limit).first ?? []
    }

    /// Saved items that the last launch must flush: saved before it, visible to the app, of its lists; user after user,
    /// each in the published order, in parts of at most `limit` items of one user.
    ///
    /// An item saved after the launch waits for the next launch. An SDK that is disabled, or does not exist yet, takes
    /// nothing.
    package func dueChunks(_ visible: Set<StorageCode>, limit: Int) -> [[PendingItem]] {
        guard state.status.settings.isSDKEnabled, state.status.settings.push.hasInstance else { return [] }
        let due = state.items.values.filter { item in
            guard item.queued == nil, let kind = item.kind else { return false }
            return item.position < state.status.launch && state.status.lists.contains(kind)
                && visible.contains(item.storage)
        }
        return Dictionary(grouping: due, by: owner).sorted { $0.key < $1.key }.flatMap { _, items in
            items.sorted {
                ($0.kind?.rawValue ?? 0, $0.position) < ($1.kind?.rawValue ?? 0, $1.position)
            }.chunks(of: limit)
        }
    }

    /// Items that the SDK took and has not sent, in the parts in which it sends it: the next item, with the next ones
    /// of its user, at most `limit`.
    package func queueChunks(limit: Int) -> [[PendingItem]] {
        let queue = state.queue
        var left = Dictionary(grouping: queue, by: owner).mapValues { $0[...] }
        var sent: Set<UInt64> = []
        var chunks: [[PendingItem]] = []
        for item in queue where !sent.contains(item.position) {
            let chunk = left[owner(of: item)]?.prefix(limit) ?? []
            left[owner(of: item)]?.removeFirst(chunk.count)
            sent.formUnion(chunk.map(\.position))
            chunks.append(Array(chunk))
        }
        return chunks
    }

    /// Tells whether the SDK has taken something that it has not sent.
    package var hasQueue: Bool { next?.hasQueue ?? state.items.values.contains { $0.queued != nil } }

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
        let isSent = !input.staysQueued && !hasQueue && maySend(input.cause)
        flush.isQueued = !isSent && !flush.flushed.isEmpty
        return [Action(.pendingFlushed(flush), .user(user))]
    }
}

extension [PendingItem] {
    /// The items in parts of at most `limit`.
    fileprivate func chunks(of limit: Int) -> [[PendingItem]] {
        stride(from: 0, to: count, by: Swift.max(1, limit)).map { Array(self[$0..<Swift.min(count, $0 + limit)]) }
    }
}
