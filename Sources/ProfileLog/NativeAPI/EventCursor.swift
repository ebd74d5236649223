internal import ProfileLogRequests

/// Cursors of the log in requests and answers: `after` of events, `Last-Event-ID`, `wait_for`, and what answers give
/// for them.
extension HistoryCursor {
    /// Reads the value of `place`; a plain number, as a person types it, has no check.
    static func read(_ text: String, _ place: String) throws(APIError) -> HistoryCursor {
        guard let cursor = HistoryCursor(text) else {
            throw .invalid(place, "must be a `cursor` of an answer, as in 12-5f3a9c0d, or a position, as in 12")
        }
        return cursor
    }

    /// Refuses a cursor of another history, and a position that may not be `reached` yet by readers who go on after it.
    ///
    /// A node of a cluster may not have the event yet that another one has told of.
    func check(_ log: LogReader, _ place: String, mayBeBeyond: Bool = false) throws {
        if check != nil, log.isOfCluster, try position > log.lastPosition() { return }
        do {
            try log.refuseForeign(self)
        } catch let other as OtherHistory {
            throw APIError(other, place)
        }
        if mayBeBeyond { return }
        let last = try log.lastPosition()
        if position > last {
            throw APIError.invalidHere(
                place, "is beyond the end of the log, which is at position \(last.rawValue)",
                remedy: "Read from the start, without it: this is not the store that the position came from.")
        }
    }
}

extension APIError {
    /// Status 409: the cursor in `place` is of another history.
    init(_ error: OtherHistory, _ place: String) {
        let (position, last) = (error.position.rawValue, error.last.rawValue)
        self.init(
            status: 409, code: "other_history",
            error: position > last
                ? "The log ends at position \(last) and does not hold the event of `\(place)`, "
                    + "which is at \(position): it was restored or replaced."
                : "The event at position \(position) is not the one of `\(place)`: the log was restored or replaced.",
            remedy: "Compare what you keep with the log from a position that both have, or read it from the start "
                + "(`after=0`).",
            place: place, facts: [("actual", last)])
    }
}

extension JSONWriter {
    /// The `store` that an answer is from, and the `history` of its next event: a restore begins another one.
    mutating func store(_ log: LogReader) throws {
        member("store", Hexadecimal.text(log.storeID))
        member("history", try log.history().text)
    }

    /// The `position` of what a write has stored, and its `cursor` for `wait_for` and `after`. If it stored nothing,
    /// the position is `null`, and there is no cursor.
    mutating func stored(_ position: Position, in log: LogReader) throws {
        member("position", position)
        try cursor(position, in: log)
    }

    /// The `cursor` of `position`; nothing for the start of the log.
    mutating func cursor(_ position: Position, in log: LogReader) throws {
        if position != .start { member("cursor", try log.cursor(at: position).description) }
    }
}

extension AppendReceipt {
    /// The position of the last event that it stored; the start if it stored nothing.
    var stored: Position { places.isEmpty ? .start : last }
}

extension AnswerShape {
    /// As `JSONWriter.stored(_:in:)` writes it.
    static let stored: AnswerShape = ["position": .position, "cursor?": .text]
    /// The same where the position is always a number.
    static let storedAlways: AnswerShape = ["position": .integer, "cursor?": .text]
}
