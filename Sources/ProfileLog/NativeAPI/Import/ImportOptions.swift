internal import ProfileLogRequests

/// What an import takes from its lines besides their events, and what it does with a line that is not valid.
package struct ImportOptions: Sendable {
    /// Gets a line that is skipped because it cannot be imported: its number, why, and its text.
    package typealias Skip = @Sendable (_ line: Int, _ reason: String, _ text: UnsafeRawBufferPointer) throws -> Void

    /// The field that identifies a line wherever it comes again: an ID that was stored before is skipped.
    package var idField: String?
    /// Whether a line has that field itself.
    var readsIDs = true
    /// The latest time of recording that a line may have; nil if the log decides when events are recorded.
    package var latestRecording: Timestamp?
    /// What is done with a line that cannot be imported; nil if it ends the import.
    package var skip: Skip?
    /// How records of another shape become lines; nil if they are lines.
    package var rows: ImportRows?
    /// Whether chunks keep the text of their lines, for a service.
    package var keepsLines = false

    /// How the times of lines are read, and which are taken.
    package var times = ImportTimes(now: .now())

    package init() {}

    /// What is read of a line besides its event.
    var extras: ImportLine.Extras {
        ImportLine.Extras(
            idField: rows == nil && readsIDs ? idField : nil, takesRecordedAt: latestRecording != nil, times: times)
    }

    /// The idempotency key of what the line with this ID says.
    static func key(_ field: String, _ id: String) -> String { "import-id:\(field):\(id)" }
}
