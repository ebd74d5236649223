internal import ProfileLogRequests

/// How many events of an import are in its store.
package struct ImportTally {
    /// Those that it stored.
    package private(set) var stored: UInt64 = 0
    /// Those that were stored before.
    package private(set) var skipped: UInt64 = 0
    /// All that are known to be there.
    package var total: UInt64 { stored + skipped }

    /// Counts nothing yet.
    package init() {}

    /// Counts a chunk to which `log` answered `result`. Where the file had ended inside it when it was imported last,
    /// its beginning is stored, and the rest is stored now. Throws a `RefusedChunk` if it cannot be.
    package mutating func count(
        _ chunk: ImportChunk, _ result: Result<AppendReceipt, AppendError>, in log: EventLog
    ) throws {
        var (chunk, result) = (chunk, result)
        while case .failure(let error) = result {
            guard case .keyReused = error else { throw RefusedChunk(chunk: chunk, error: error) }
            let known = try Self.storedEvents(chunk.key, log)
            guard 0 < known, known < chunk.events else { throw RefusedChunk(chunk: chunk, error: error) }
            var rest = chunk
            // Under a key that is taken nothing is stored: this is refused unless the stored lines are these.
            if case .failure(let error) = log.commit([try rest.removeFirst(known)])[0] {
                throw RefusedChunk(chunk: chunk, error: error)
            }
            skipped += UInt64(known)
            chunk = rest
            result = log.commit([rest.append])[0]
        }
        if try result.get().isRepetition { skipped += UInt64(chunk.events) } else { stored += UInt64(chunk.events) }
    }

    /// How many lines were stored under `key`: an event each, without those of new users and of devices that got their
    /// first.
    private static func storedEvents(_ key: String, _ log: EventLog) throws -> Int {
        guard let receipt = try log.append(underKey: key), !receipt.places.isEmpty else { return 0 }
        let page = try log.events(from: receipt.first, limit: receipt.places.count)
        return page.events.count { $0.event.kind != .userCreated && $0.event.kind != .userChanged }
    }
}

/// A chunk, or the rest of one whose beginning was stored before, that a log refused.
package struct RefusedChunk: Error {
    /// What is not stored.
    package let chunk: ImportChunk
    /// Why.
    package let error: AppendError
}
