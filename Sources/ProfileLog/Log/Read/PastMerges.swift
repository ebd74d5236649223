/// The merges that were looked for: the events of a user who took over many others are read once for all of these.
package struct PastMerges: Sendable {
    /// The versions of a user that were read, and the merges among them.
    fileprivate struct Target {
        var read: ClosedRange<UInt64>?
        var positions: [UInt64: UInt64] = [:]
    }

    private var targets: [UInt64: Target] = [:]

    package init() {}

    /// The position of the event by which `target` took over `user`. Reads backward from the target's last event to it,
    /// and nothing twice.
    mutating func position(ofMerging user: UInt64, into target: UInt64, _ view: LogView) throws -> UInt64 {
        var known = targets.removeValue(forKey: target) ?? Target()
        defer { targets[target] = known }
        let version = try view.version(of: target)
        // A later view has more.
        if let read = known.read, read.upperBound < version {
            try view.forEachPosition(of: target, after: read.upperBound, upTo: version) { position in
                try known.note(position, view)
                return true
            }
            known.read = read.lowerBound...version
        }
        var first = known.read?.lowerBound ?? version + 1
        if known.positions[user] == nil {
            try view.forEachPosition(of: target, after: 0, upTo: first - 1) { position in
                first -= 1
                try known.note(position, view)
                return known.positions[user] == nil
            }
            known.read = first...max(version, first)
        }
        guard let position = known.positions[user] else {
            throw StorageError.damaged(place: "the merge of user \(user)")
        }
        return position
    }
}

extension PastMerges.Target {
    fileprivate mutating func note(_ position: UInt64, _ view: LogView) throws {
        do {
            let header = try view.header(at: position)
            guard header.kind == .usersMerged, let user = RecordBody(header.body)?.otherUser else { return }
            // The last one counts.
            positions[user] = max(position, positions[user] ?? 0)
        } catch StorageError.damaged {
            // It may be another event of the target.
        }
    }
}
