internal import ProfileLogRequests

/// What could not be read for an answer, which has all the rest.
struct DamageList: Sendable {
    private struct Entry: Sendable {
        let key: String
        let number: UInt64
        let error: String
    }

    /// The others are counted: one damaged place may keep every user from being read.
    private static let mostEntries = 100
    private var entries: [Entry] = []
    private var count = 0

    mutating func note(_ user: UserNumber, _ error: StorageError) { note("user_number", user.rawValue, error) }

    mutating func note(_ event: Position, _ error: StorageError) { note("position", event.rawValue, error) }

    private mutating func note(_ key: String, _ number: UInt64, _ error: StorageError) {
        count += 1
        guard entries.count < Self.mostEntries else { return }
        let text = if case .damaged(let place) = error { place } else { error.description }
        entries.append(Entry(key: key, number: number, error: text))
    }

    /// Writes the member `damaged` of an answer; nothing if all could be read.
    func write(to json: inout JSONWriter) {
        if count == 0 { return }
        json.objects("damaged", entries) { json, entry in
            json.member(entry.key, entry.number)
            json.member("error", entry.error)
        }
        json.member("damaged_count", count)
    }
}
