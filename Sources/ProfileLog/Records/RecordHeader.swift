/// The front of a record, with kind, user, version and time; read without the rest.
///
/// ```
/// 0x01 | 08 kind | 10 user | 18 version | 20 recorded_at | body ... | CRC-32C, 4 bytes
/// ```
@usableFromInline
package struct RecordHeader {
    @usableFromInline package let kindNumber: UInt8
    @usableFromInline package let user: UInt64
    @usableFromInline package let version: UInt64
    @usableFromInline package let recordedAt: Int64
    /// The fields after the header, without the checksum.
    @usableFromInline package let body: UnsafeRawBufferPointer

    /// The only format so far.
    @inlinable package static var format: UInt8 { 1 }

    @inlinable package var kind: EventKind? { EventKind(rawValue: kindNumber) }

    /// Tells whether it decides that another event counts or not.
    @inlinable package var isVoiding: Bool {
        kindNumber == EventKind.eventVoided.rawValue || kindNumber == EventKind.eventUnvoided.rawValue
    }

    /// Tells whether it is about saved or queued events: one of them, or an outcome that lets some take effect. One
    /// comparison, as folds ask it of each event.
    @inlinable package var concernsItems: Bool { Self.itemKinds >> UInt64(kindNumber) & 1 != 0 }

    /// Tells whether it is saved or queued: its content has no effect yet.
    @inlinable package var isItem: Bool { concernsItems && !isOutcome }

    /// Tells whether it lets saved or queued events take effect.
    @inlinable package var isOutcome: Bool {
        kindNumber == EventKind.pendingFlushed.rawValue || kindNumber == EventKind.dataSent.rawValue
    }

    /// A bit for each of these kinds: 10 to 12, 24 to 27, 31, 36.
    @inlinable static var itemKinds: UInt64 { 0x10_8F00_1C00 }

    /// Reads the header of a stored record; nil if the bytes are not a record.
    @inlinable
    @inline(__always)
    package init?(_ record: UnsafeRawBufferPointer) {
        guard record.count >= 12, let base = record.baseAddress, record[0] == Self.format else { return nil }
        var reader = WireReader(from: base + 1, to: base + (record.count - 4))
        guard reader.varint() == 0x08 else { return nil }
        let kindNumber = reader.varint()
        // User 0 is written as well: a header has all four fields.
        guard reader.varint() == 0x10 else { return nil }
        user = reader.varint()
        guard reader.varint() == 0x18 else { return nil }
        version = reader.varint()
        guard reader.varint() == 0x20 else { return nil }
        recordedAt = Int64(bitPattern: reader.varint())
        guard !reader.isBad, kindNumber <= 0xFF else { return nil }
        self.kindNumber = UInt8(kindNumber)
        body = reader.rest
    }

    /// Makes the header from its parts.
    @inlinable
    @inline(__always)
    package init(kindNumber: UInt8, user: UInt64, version: UInt64, recordedAt: Int64, body: UnsafeRawBufferPointer) {
        self.kindNumber = kindNumber
        self.user = user
        self.version = version
        self.recordedAt = recordedAt
        self.body = body
    }

    /// The header of an event that has no place yet.
    package init(kind: EventKind, body: UnsafeRawBufferPointer) {
        self.init(kindNumber: kind.rawValue, user: 0, version: 0, recordedAt: 0, body: body)
    }

    /// The user only: for one of several readers of the log that skips records of others. 0 if the bytes are not a
    /// record.
    @inlinable
    @inline(__always)
    package static func user(of record: UnsafeRawBufferPointer) -> UInt64 {
        guard record.count >= 12, let base = record.baseAddress else { return 0 }
        // Format, tag and a kind below 128: the user's tag is the fourth byte.
        var reader = WireReader(from: base + 4, to: base + (record.count - 4))
        return reader.varint()
    }

    /// Tells whether the checksum at the end of `record` is that of the bytes before it.
    @inlinable
    @inline(__always)
    package static func hasRightChecksum(_ record: UnsafeRawBufferPointer) -> Bool {
        guard record.count >= 4 else { return false }
        let length = record.count - 4
        let stored = UInt32(littleEndian: record.loadUnaligned(fromByteOffset: length, as: UInt32.self))
        return stored == crc32c(record.slice(0..<length))
    }

    /// The whole record with another time.
    package func record(recordedAt: Int64) -> [UInt8] {
        var writer = WireWriter()
        Self.write(kind: kindNumber, user: user, version: version, recordedAt: recordedAt, to: &writer)
        writer.raw(body)
        writer.littleEndian(crc32c(writer.bytes))
        return Array(writer.bytes)
    }

    @inline(__always)
    package static func write(
        kind: UInt8, user: UInt64, version: UInt64, recordedAt: Int64, to writer: inout WireWriter
    ) {
        writer.reserve(48)
        writer.byte(format)
        writer.field(1, varint: UInt64(kind))
        writer.field(2, varint: user)
        writer.field(3, varint: version)
        writer.field(4, varint: UInt64(bitPattern: recordedAt))
    }
}

extension RecordHeader {
    /// The saved and queued events that take effect by this outcome, which is at `position`; nil if that is none.
    @usableFromInline
    package func effective(before position: UInt64) -> [UInt64]? {
        guard let body = RecordBody(body), !body.erased, !body.isQueued else { return nil }
        return body.flushed.compactMap { $0.rawValue > 0 && $0.rawValue < position ? $0.rawValue : nil }
    }

    /// Tells whether nothing of the event is left: it was erased, or is damaged.
    @usableFromInline package var isErased: Bool {
        var reader = WireReader(body)
        while let field = reader.field() {
            if field.number == RecordField.erased, field.type == .varint { return reader.varint() != 0 }
            reader.skip(field.type)
        }
        return reader.isBad
    }

    /// Its devices: the one on which it happened, and those whose anonymous user it creates, identifies or merges.
    package var devices: [Name] {
        var devices: [Name] = []
        var reader = WireReader(body)
        while let field = reader.field() {
            if field.number == RecordField.device, field.type == .bytes {
                devices.append(Name(String(decoding: reader.bytes(), as: UTF8.self)))
            } else if field.number == RecordField.identities, field.type == .bytes {
                if case .device(let device) = IdentityCodec.read(reader.bytes()), !devices.contains(Name(device)) {
                    devices.append(Name(device))
                }
            } else {
                reader.skip(field.type)
            }
        }
        return devices
    }

    /// The event's source. Reads at most three fields after the header.
    package var source: EventSource {
        var reader = WireReader(body)
        guard reader.seek(RecordField.source) else { return .unknown }
        return EventSource(rawValue: UInt8(truncatingIfNeeded: reader.varint())) ?? .unknown
    }

    /// Tells whether the event updates its user. Skipped parts of a request and steps of a message do not, nor does an
    /// attribute that the system set because of another user or an address.
    package var isUpdate: Bool {
        switch kind?.role {
        case .content(.userAttributes, .logged): source != .system
        case .identity, .content, .device, .outcome: true
        case .message, .note: false
        case nil: true  // a newer program's kind
        }
    }
}
