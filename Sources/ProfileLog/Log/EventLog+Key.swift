extension EventLog {
    /// The append that was stored under `key`, whatever it holds; nil if there is none.
    ///
    /// For callers who know by other means than the events whether a request is the same: its bytes may mean other events
    /// by now. Of an append whose first event was erased the receipt says so, and has no note.
    package func append(underKey key: String) throws -> AppendReceipt? {
        let key = Array(key.utf8)
        return try withView { view, transaction in
            let hash = KeyCoding.hash(key)
            guard let position = try view.append(keyHash: hash, transaction), position <= view.last
            else {
                return nil
            }
            return try transaction.withCursor(view.tables.log) { log in
                guard let field = AppendField.first(in: try RecordHeader(log.find(position), at: position).body) else {
                    throw StorageError.damaged(place: "the record at position \(position)")
                }
                guard field.isUnder(key, hash: hash) else { return nil }
                let (end, overflow) = position.addingReportingOverflow(field.count)
                guard !overflow, end <= view.last + 1 else {
                    throw StorageError.damaged(place: "the record at position \(position)")
                }
                let places = try (position..<end).map { position in
                    let header = try RecordHeader(log.find(position), at: position)
                    return AppendReceipt.Place(
                        user: UserNumber(rawValue: header.user), version: Version(rawValue: header.version))
                }
                return AppendReceipt(repeating: field, at: position, places)
            }
        }
    }
}

/// What stands for some content where only sameness matters.
package enum ContentHash {
    /// The first 16 bytes of the SHA-256 of `bytes`.
    package static func of(_ bytes: [UInt8]) -> [UInt8] { KeyCoding.hash(bytes) }
}
