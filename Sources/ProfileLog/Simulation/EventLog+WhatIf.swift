extension EventLog {
    /// Plays the saves, launches, user changes, settings and discards of the log under `policy`, and counts what would have become of the
    /// items. Writes nothing.
    ///
    /// What the SDK is given counts as delivered. Repairs of rejected items, and kinds of events that this version does not know, are
    /// left out. Whoever was merged into somebody is that one throughout, and who is merged meanwhile, behind their first event, is not. Of
    /// what an erased person launched and changed, only a launch that flushed something of others is played, as a cold one of all lists.
    /// Memory grows with users, with devices and with what lies on them, and with the launches of erased persons that flushed nothing of
    /// others; not with the rest of the log. `progress` may stop the work by answering false; the report then covers what was played.
    public func whatIf(
        _ policy: PublishedPolicy, in scope: WhatIfScope = WhatIfScope(), mostItems: Int = 100,
        progress: (LogProgress) -> Bool = { _ in true }
    ) throws -> WhatIfReport {
        try whatIf(policy, in: scope, mostItems: mostItems, recordsPerSlice: 1 << 16, progress: progress)
    }

    /// - Parameter recordsPerSlice: how many one read transaction sees at most: long ones would keep pages from being used again.
    func whatIf(
        _ policy: PublishedPolicy, in scope: WhatIfScope, mostItems: Int, recordsPerSlice: UInt64,
        progress: (LogProgress) -> Bool
    ) throws -> WhatIfReport {
        let end = try min(lastPosition(), scope.until ?? Position(rawValue: .max)).rawValue
        var scope = scope
        scope.user = try scope.user.map { try survivor(of: $0) }
        var run = WhatIfRun(policy, scope, mostItems: mostItems)
        var position: UInt64 = 0
        var isStopped = false
        while position < end, !isStopped {
            let to = min(end, position + recordsPerSlice)
            try play(from: position + 1, to: to, &run)
            position = to
            isStopped = !progress(LogProgress(stage: "what if", done: position, total: end))
        }
        run.end(at: Position(rawValue: position), isComplete: position == end)
        return run.report
    }

    private func play(from: UInt64, to: UInt64, _ run: inout WhatIfRun) throws {
        try withView { view, transaction in
            let names = names.current
            try Self.scan(view.tables, from: from, to: to, transaction) { position, header in
                guard let kind = header.kind, run.plays(kind) else { return true }
                guard let event = RecordedEvent(header, position: Position(rawValue: position), names: names) else {
                    throw StorageError.damaged(place: "the record at position \(position) is unreadable")
                }
                let owner: UInt64
                if let known = run.owners[header.user] {
                    owner = known
                } else {
                    owner = try view.survivor(of: header.user, transaction, known: run.owners)
                    run.note(owner, of: header.user)
                }
                run.play(event, of: UserNumber(rawValue: owner))
                return true
            }
        }
    }
}
