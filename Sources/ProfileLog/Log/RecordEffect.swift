/// The effect of an altered history on a record.
package enum RecordEffect: Hashable, Sendable {
    case none, omitted
    case replaced(EventKind, body: [UInt8])

    /// Calls `body` with the record that counts in place of that of `header`, unless there is none.
    package func withRecord(inPlaceOf header: RecordHeader, _ body: (RecordHeader) throws -> Void) rethrows {
        switch self {
        case .none: try body(header)
        case .omitted: break
        case .replaced(let kind, let bytes):
            try bytes.withUnsafeBytes { bytes in
                try body(
                    RecordHeader(
                        kindNumber: kind.rawValue, user: header.user, version: header.version,
                        recordedAt: header.recordedAt, body: bytes))
            }
        }
    }
}
