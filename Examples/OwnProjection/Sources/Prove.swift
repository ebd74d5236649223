import ProfileLog

/// Compares every state that is read with a fresh fold, folds the stored ones again, and copies the store.
func prove(_ log: EventLog, backup: String) throws {
    let proofs = [
        try log.replay(Spending.self, threads: 2, verify: true),
        try log.replay(Sales.self, verify: true),
        try log.replay(Till.self, verify: true),
    ]
    precondition(proofs.allSatisfy(\.isEqual), "\(proofs.flatMap(\.differences))")
    print("Live states equal a fresh fold.")

    let rebuilt = try log.rebuildStates(threads: 2)
    print("Rebuilt: \(rebuilt.isComplete), with \(rebuilt.differing.count) users whose states were wrong.")

    let report = try log.check()
    precondition(report.isSound, "\(report)")
    print("The store is sound.")

    // While the log is in use. Later copies into the same folder bring what is new.
    let copy = try log.copy(to: backup)
    precondition(copy.isEqual, "\(copy.differences)")
    print("The backup has \(copy.events) events.")
}
