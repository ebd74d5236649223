/// The idempotency keys of the appends that a scan of the log goes through: only the first record of an append has it.
package struct AppendKeys: Sendable {
    private var key: String?
    /// The first position after the append with that key.
    private var end: UInt64 = 0

    /// Records that are looked at before the first position of a scan: as many as 1,000 events make, with a new user
    /// and a change of its device each.
    private static let mostBefore: UInt64 = 3_000

    init(before position: UInt64, in view: borrowing LogView) throws {
        guard position <= view.last, position > 1 else { return }
        var first = position
        repeat {
            guard let header = try? view.header(at: first) else { return }
            if AppendField.first(in: header.body) != nil {
                follow(header, at: first)
                return
            }
            first -= 1
        } while first > 0 && position - first < Self.mostBefore
    }

    /// Goes on to the record at `position`.
    @inline(__always)
    mutating func follow(_ header: RecordHeader, at position: UInt64) {
        guard let field = AppendField.first(in: header.body) else { return }
        key = field.key.isEmpty ? nil : String(decoding: field.key, as: UTF8.self)
        end = position + field.count
    }

    /// The key of the append that has an event at `position`, the last one that was followed.
    @inline(__always)
    func key(at position: UInt64) -> String? { position < end ? key : nil }
}
