/// Retries of an append of which something was erased, or that came by an import.
extension Decider {
    /// Tells whether `append` can be a retry of the append whose events are at `positions`, although their hashes
    /// differ: judged by what an erasure left of it, and by what an import keeps of it.
    ///
    /// Records that are whole must match in kind, user and content. A tombstone has only its kind and an erased user.
    /// An erased name gets another number when it comes again. An imported event has its source and its time from the
    /// export. Not for other appends: their hash decides.
    func matches(_ append: borrowing PreparedAppend, at positions: Range<UInt64>) throws -> Bool {
        var index = 0
        /// Tells whether the hashes can differ although it is the same append.
        var hasLost = false
        var owners: [Owner: Bool] = [:]
        for position in positions {
            let header = try header(at: position)
            guard let body = RecordBody(header.body) else {
                throw StorageError.damaged(place: "the record at position \(position)")
            }
            guard index < append.items.count, let kind = header.kind,
                kind == append.items[index].kind || kind == append.items[index].kind.queued
            else {
                guard header.kind?.isMadeBeside(append.intent) == true else { return false }
                hasLost = hasLost || body.erased
                continue
            }
            let item = append.items[index]
            index += 1
            let owner = Owner(target: item.target, user: header.user, isErased: body.erased)
            if owners[owner] == nil {
                let target = append.targets[item.target]
                let id = target.holder ?? target.id
                owners[owner] =
                    try body.erased
                    ? couldLead(id, toErasedBefore: positions.upperBound)
                    : leads(id, to: header.user, at: header.version)
            }
            guard owners[owner] == true else { return false }
            if body.erased {
                hasLost = true
                continue
            }
            let stored = AppendField.skipped(in: header.body)
            let (isSame, isExplained) = append.bytes.withUnsafeBytes { bytes in
                let sent = bytes.slice(item.body)
                if stored.hasSameBytes(as: sent) { return (true, false) }
                if isImported(sent, item.kind, as: stored, kind) { return (true, true) }
                // The name of its app group may be erased.
                let isRelocated = body.storage == 0 && self.isRelocated(sent, item.kind, to: stored)
                return (isRelocated, isRelocated && view.nameTable.erasures > 0)
            }
            guard isSame else { return false }
            hasLost = hasLost || isExplained
        }
        return hasLost && index == append.items.count
    }

    /// A target of an append, and the user of a record that may belong to it.
    private struct Owner: Hashable {
        let target: Int
        let user: UInt64
        let isErased: Bool
    }

    /// Tells whether one of the two came by an import, and both say the same.
    private func isImported(
        _ sent: UnsafeRawBufferPointer, _ kind: EventKind, as stored: UnsafeRawBufferPointer, _ storedKind: EventKind
    ) -> Bool {
        func event(_ kind: EventKind, _ body: UnsafeRawBufferPointer) -> RecordedEvent? {
            RecordedEvent(RecordHeader(kind: kind, body: body), position: .start, names: names.map)
        }
        guard let sent = event(kind, sent), let stored = event(storedKind, stored),
            sent.context.source == .import || stored.context.source == .import
        else { return false }
        if case .queued(let event) = stored.event { return event == sent.event }
        return stored.event == sent.event
    }

    /// Tells whether the item with the body `sent` was saved for an app group, and becomes `stored` in the process's
    /// private storage.
    private func isRelocated(
        _ sent: UnsafeRawBufferPointer, _ kind: EventKind, to stored: UnsafeRawBufferPointer
    ) -> Bool {
        var names = names.map
        guard kind.isSaved,
            var saved = RecordedEvent(RecordHeader(kind: kind, body: sent), position: .start, names: names),
            case .appGroup = saved.context.storage
        else { return false }
        saved.context.storage = .privateTo(process: saved.context.process ?? DeviceStorage.app)
        var landed = WireWriter()
        return EventEncoder.write(saved.event, saved.context, names: &names, to: &landed)
            && landed.bytes.hasSameBytes(as: stored)
    }

    // MARK: - Whose it was

    /// Tells whether an event for `id` went to `user` at `version`: the ID resolves to them, or their own events say
    /// that it did.
    private func leads(_ id: UserID, to user: UInt64, at version: UInt64) throws -> Bool {
        if let now = try view.user(id, braze: braze), now == (try view.canonicalUser(of: user)) {
            return true
        }
        // The last event with the ID decides.
        var has: Bool?
        try view.forEachPosition(of: user, after: 0, upTo: max(version, 1) - 1) { position in
            let header = try header(at: position)
            guard header.kind?.tellsIDs == true, let body = RecordBody(header.body) else { return true }
            let isOnDevice =
                header.kind == .userChanged && body.device.flatMap { String(exactly: $0) }.map(UserID.device) == id
            if isOnDevice || body.identities.contains(id) {
                has = true
            } else if body.released.contains(id) {
                has = false
            }
            return has == nil
        }
        return has ?? false
    }

    /// Tells whether `id` may have resolved to a user who was erased since, in an append that ends before `end`. It
    /// then resolves to no user, or to a later one. A device may have another user by now.
    private func couldLead(_ id: UserID, toErasedBefore end: UInt64) throws -> Bool {
        if case .device = id { return true }
        guard let user = try view.user(id, braze: braze) else { return true }
        return try view.identities(of: user).created >= end
    }
}

extension EventKind {
    /// Tells whether an append makes events of this kind besides its items.
    fileprivate func isMadeBeside(_ intent: PreparedAppend.Intent) -> Bool {
        switch intent {
        case .events:
            [.userCreated, .userChanged, .objectsLeftOut, .messageNotSent, .messageScheduled, .messageUnscheduled]
                .contains(self)
        case .identity: isIdentity
        case .void: self == .eventVoided || self == .eventUnvoided
        case .device, .inApp, .messages, .rules, .discard: false
        }
    }

    /// Tells whether events of this kind contain IDs of their user.
    fileprivate var tellsIDs: Bool { isIdentity || self == .userChanged }

    /// Tells whether a change of a user's IDs makes an event of this kind.
    private var isIdentity: Bool {
        if case .identity(let change) = role { change != .erased } else { false }
    }
}
