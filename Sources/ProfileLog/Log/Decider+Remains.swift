/// Retries of an append of which something was erased.
extension Decider {
    /// Whether `append` can be the one whose events stand at `positions`, by what an erasure left of that.
    ///
    /// A tombstone has a kind and no content, so its kind is compared; and a name that was erased has another number when it comes again.
    /// What is whole must be the same to the byte. An append of which nothing was erased is none of these: its hash says what it was.
    func matches(
        _ append: PreparedAppend, whatRemainsAt positions: Range<UInt64>,
        _ transaction: borrowing some Reading & ~Copyable
    ) throws -> Bool {
        var items = append.items[...]
        var hasLost = false
        for position in positions {
            guard let header = try header(at: position, transaction), let body = RecordBody(header.body) else {
                throw StorageError.damaged(place: "the record at position \(position)")
            }
            guard let item = items.first, let kind = header.kind, kind == item.kind || kind == item.kind.queued else {
                guard header.kind?.isMadeBeside(append.intent) == true else { return false }
                hasLost = hasLost || body.erased
                continue
            }
            items.removeFirst()
            let isWhole = append.bytes.withUnsafeBytes { bytes in
                AppendField.skipped(in: header.body).hasSameBytes(as: bytes.slice(item.body))
            }
            if isWhole { continue }
            // A save that landed elsewhere than it was meant to: the place where it was meant to may have lost its name.
            let isRelocated = kind.isSaved && body.storage == 0 && view.nameTable.erasures > 0
            guard body.erased || isRelocated else { return false }
            hasLost = true
        }
        return hasLost && items.isEmpty
    }
}

extension EventKind {
    /// Whether an append stores events of this kind that are none of its items.
    fileprivate func isMadeBeside(_ intent: PreparedAppend.Intent) -> Bool {
        switch intent {
        case .events: self == .userCreated || self == .userChanged || self == .objectsLeftOut
        case .identity: isIdentity
        default: false
        }
    }

    /// Whether a change of who is known by which ID comes to an event of this kind.
    private var isIdentity: Bool {
        switch self {
        case .userCreated, .userIdentified, .aliasAdded, .aliasRenamed, .usersMerged, .externalIDRenamed,
            .externalIDRemoved:
            true
        default: false
        }
    }
}
