extension ProfileProjection {
    /// Everything in a fixed order, keys ascending: equal states, equal bytes.
    public static func encode(_ state: ProfileState) -> [UInt8] {
        var writer = WireWriter(capacity: 1024)
        writer.varint(state.version.rawValue)
        writer.varint(state.lastPosition.rawValue)
        writer.varint(state.created.rawValue)
        writer.byte(state.firstSeen == nil ? 0 : 1)
        writer.littleEndian(state.firstSeen?.rawValue ?? 0)
        writer.littleEndian(state.lastSeen?.rawValue ?? 0)
        write(state.launches, &writer)
        write(state.sessions, &writer)
        write(state.flushes, &writer)
        writer.varint(UInt64(state.fields.fields.count))
        for field in state.fields.fields {
            writer.varint(UInt64(field.key.rawValue))
            writer.varint(field.position)
            writer.littleEndian(field.at)
            writer.varint(UInt64(field.length))
            state.fields.withBytes(field) { writer.raw($0) }
        }
        writer.varint(UInt64(state.events.count))
        for event in state.events {
            writer.varint(UInt64(event.name))
            write(event.occurrences, &writer)
        }
        writer.varint(UInt64(state.purchases.count))
        for purchase in state.purchases {
            writer.varint(UInt64(purchase.product))
            write(purchase.occurrences, &writer)
            writer.varint(UInt64(purchase.revenue.count))
            for revenue in purchase.revenue {
                write(Array(revenue.currency.utf8), &writer)
                // Earlier programs accepted prices that add up to NaN; one pattern of it is written.
                writer.littleEndian((revenue.amount.isNaN ? .nan : revenue.amount).bitPattern)
            }
        }
        writer.varint(UInt64(state.pending.count))
        for entry in state.pending {
            writer.varint(entry.position)
            writer.byte(entry.kind.rawValue)
            writer.littleEndian(entry.savedAt)
            write(Array(entry.device.text.utf8), &writer)
            writer.varint(UInt64(entry.storage.rawValue))
            write(entry.body, &writer)
            writer.byte(entry.isQueued ? 1 : 0)
        }
        return Array(writer.bytes)
    }

    private static func write(_ occurrences: ProfileState.Occurrences, _ writer: inout WireWriter) {
        writer.varint(occurrences.count)
        if occurrences.count == 0 { return }
        writer.littleEndian(occurrences.first.rawValue)
        writer.littleEndian(occurrences.last.rawValue)
        writer.varint(occurrences.position.rawValue)
    }

    private static func write(_ bytes: [UInt8], _ writer: inout WireWriter) {
        writer.varint(UInt64(bytes.count))
        bytes.withUnsafeBytes { writer.raw($0) }
    }

    /// The state that `encode` wrote; nil if the bytes are invalid.
    public static func decode(_ bytes: UnsafeRawBufferPointer) -> ProfileState? {
        var reader = WireReader(bytes)
        var state = ProfileState()
        state.version = Version(rawValue: reader.varint())
        state.lastPosition = Position(rawValue: reader.varint())
        state.created = Position(rawValue: reader.varint())
        let isSeen = reader.varint() == 1
        let first = Timestamp(rawValue: Int64(bitPattern: reader.fixed64()))
        let last = Timestamp(rawValue: Int64(bitPattern: reader.fixed64()))
        if isSeen {
            state.firstSeen = first
            state.lastSeen = last
        }
        state.launches = occurrences(&reader)
        state.sessions = occurrences(&reader)
        state.flushes = occurrences(&reader)
        for _ in 0..<reader.count() {
            let key = FieldKey(rawValue: UInt32(truncatingIfNeeded: reader.varint()))
            let position = reader.varint()
            let at = Int64(bitPattern: reader.fixed64())
            state.fields.set(key, reader.bytes(), position: position, at: at)
        }
        for _ in 0..<reader.count() {
            let name = UInt32(truncatingIfNeeded: reader.varint())
            state.events.append(.init(name: name, occurrences: occurrences(&reader)))
        }
        for _ in 0..<reader.count() {
            var purchase = ProfileState.PurchaseSummary(product: UInt32(truncatingIfNeeded: reader.varint()))
            purchase.occurrences = occurrences(&reader)
            for _ in 0..<reader.count() {
                let currency = reader.text()
                purchase.revenue.append(.init(currency: currency, amount: reader.double()))
            }
            state.purchases.append(purchase)
        }
        for _ in 0..<reader.count() {
            let position = reader.varint()
            guard let kind = EventKind(rawValue: UInt8(truncatingIfNeeded: reader.varint())) else { return nil }
            let savedAt = Int64(bitPattern: reader.fixed64())
            let device = Name(reader.text())
            let storage = StorageCode(rawValue: UInt32(truncatingIfNeeded: reader.varint()))
            state.pending.append(
                .init(
                    position: position, kind: kind, savedAt: savedAt, device: device, storage: storage,
                    body: Array(reader.bytes()), isQueued: reader.varint() == 1))
        }
        return reader.isBad || !reader.isAtEnd ? nil : state
    }

    private static func occurrences(_ reader: inout WireReader) -> ProfileState.Occurrences {
        var occurrences = ProfileState.Occurrences()
        occurrences.count = reader.varint()
        if occurrences.count == 0 { return occurrences }
        occurrences.first = Timestamp(rawValue: Int64(bitPattern: reader.fixed64()))
        occurrences.last = Timestamp(rawValue: Int64(bitPattern: reader.fixed64()))
        occurrences.position = Position(rawValue: reader.varint())
        return occurrences
    }
}
