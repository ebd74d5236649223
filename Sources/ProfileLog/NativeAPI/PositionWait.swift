internal import ProfileLogRequests

/// `wait_for` and `timeout` of a read: the answer waits until the log has reached a position.
struct PositionWait {
    private let cursor: HistoryCursor
    private let seconds: UInt64

    private static let longest: UInt64 = 30
    private static let standard: UInt64 = 10

    /// Takes both out of the query of `request`; nil if it has neither.
    init?(_ request: inout APIRequest) throws {
        let names: Set<String> = ["wait_for", "timeout"]
        guard request.query.contains(where: { names.contains($0.name) }) else { return nil }
        var query = Query(request)
        guard request.query.contains(where: { $0.name == "wait_for" }) else {
            throw APIError.invalid(
                "timeout", "has no meaning without `wait_for`", remedy: "Name the position to wait for.")
        }
        cursor = try HistoryCursor.read(query.requiredText("wait_for"), "wait_for")
        seconds = try query.number("timeout", 0...Self.longest, standard: Self.standard)
        request.query.removeAll { names.contains($0.name) }
    }

    /// Returns when the log has reached the position; throws when that takes too long, or the task is cancelled, and at
    /// once if the event is not in this log.
    func wait(for log: EventLog) async throws {
        try cursor.check(log.reader, "wait_for", mayBeBeyond: true)
        let position = cursor.position
        if try await RequestPhases.awaiting(.news, { try await reaches(position, log) }) {
            ReadBudget.current?.restart()
            if log.reader.isOfCluster { try cursor.check(log.reader, "wait_for", mayBeBeyond: true) }
            return
        }
        let last = try log.lastPosition()
        throw APIError(
            status: 504, code: "not_reached",
            error: "The log has not reached position \(position.rawValue); it ends at \(last.rawValue).",
            remedy: "Ask again, or give it longer with `timeout` (seconds, up to \(Self.longest)).",
            place: "wait_for", facts: [("actual", last.rawValue)])
    }

    /// Waits; false if that takes too long, or the task is cancelled.
    private func reaches(_ position: Position, _ log: EventLog) async throws -> Bool {
        if try log.lastPosition() >= position { return true }
        do {
            let before = Position(rawValue: position.rawValue - 1)
            return try await log.wait(after: before, until: .now + .seconds(Int64(seconds))) != nil
        } catch is CancellationError {
            return false
        }
    }
}
