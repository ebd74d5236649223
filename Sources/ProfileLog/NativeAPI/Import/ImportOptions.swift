internal import ProfileLogRequests

/// Options of an import: the members of its lines besides their events, and the treatment of lines that are not valid.
package struct ImportOptions: Sendable {
    /// Gets a line that is skipped because it cannot be imported: its number, why, and its text.
    package typealias Skip = @Sendable (_ line: Int, _ reason: String, _ text: UnsafeRawBufferPointer) throws -> Void

    /// The field that identifies a line wherever it comes again: an ID that was stored before is skipped.
    package var idField: String?
    /// Tells whether a line has that field itself.
    var readsIDs = true
    /// The latest time of recording that a line may have; nil if the log decides when events are recorded.
    package var latestRecording: Timestamp?
    /// The treatment of a line that cannot be imported; nil if it ends the import.
    package var skip: Skip?
    /// The map from records of another shape to lines; nil if they are lines.
    package var rows: ImportRows?
    /// Tells whether chunks keep the text of their lines, for a service.
    package var keepsLines = false

    /// The form of the times of lines, and the range that is taken.
    package var times = ImportTimes(now: .now())

    package init() {}

    /// Members that are read of a line besides its event.
    var extras: ImportLine.Extras {
        ImportLine.Extras(
            idField: rows == nil && readsIDs ? idField : nil, takesRecordedAt: latestRecording != nil, times: times)
    }

    /// The idempotency key of what the line with this ID says.
    static func key(_ field: String, _ id: String) -> String { "import-id:\(field):\(id)" }
}
