extension [UInt64: UserRow] {
    /// Takes in what `tail` says of users at the positions for which `isNew` answers true.
    mutating func apply(_ tail: borrowing Tail, where isNew: (UInt64) -> Bool) {
        var merges: [(position: UInt64, source: UInt64, target: UInt64)] = []
        for (user, changes) in tail.identities {
            for news in changes where isNew(news.position) {
                self[user, default: UserRow()].apply(news)
                if let source = news.tookIn { merges.append((news.position, source, user)) }
            }
        }
        // In the order of the log: who goes into another may have taken in others before.
        for merge in merges.sorted(by: { $0.position < $1.position }) where self[merge.source]?.isSomebody == true {
            self[merge.target]?.isSomebody = true
        }
        for (source, merge) in tail.merges where isNew(merge.position) {
            self[source, default: UserRow()].mergedInto = merge.target
        }
    }
}
