internal import ProfileLogRequests
internal import Synchronization

/// The damage that an answer lacks, while it has all the rest.
final class DamageList: Sendable {
    private struct Entry {
        let key: String
        let number: UInt64
        let error: String
    }

    /// The others are counted: one damaged place may keep every user from being read.
    private static let mostEntries = 100
    private let found = Mutex<(entries: [Entry], count: Int)>(([], 0))

    func noteUser(_ user: UserNumber, _ error: StorageError) { note("user_number", user.rawValue, error) }

    func noteEvent(_ position: Position, _ error: StorageError) { note("position", position.rawValue, error) }

    private func note(_ key: String, _ number: UInt64, _ error: StorageError) {
        let text = if case .damaged(let place) = error { place } else { error.description }
        found.withLock { found in
            found.count += 1
            if found.entries.count == Self.mostEntries { return }
            found.entries.append(Entry(key: key, number: number, error: text))
        }
    }

    /// Writes the member `damaged` of an answer; nothing if all could be read.
    func write(to json: inout JSONWriter) {
        let (entries, count) = found.withLock { $0 }
        if count == 0 { return }
        KnownDamage.note()
        json.objects("damaged", entries) { json, entry in
            json.member(entry.key, entry.number)
            json.member("error", entry.error)
        }
        json.member("damaged_count", count)
    }
}

extension DamageList {
    /// The members that `write` adds to an answer.
    static let shape: AnswerShape = [
        "damaged?": [["user_number?": .integer, "position?": .integer, "error": .text]], "damaged_count?": .integer,
    ]
}
