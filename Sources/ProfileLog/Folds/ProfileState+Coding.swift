extension ProfileProjection {
    /// Everything in a fixed order, keys ascending: equal states, equal bytes.
    package static func encode(_ state: ProfileState) -> [UInt8] {
        var writer = WireWriter(capacity: 1024)
        writer.varint(state.version.rawValue)
        writer.varint(state.lastPosition.rawValue)
        writer.varint(state.created.rawValue)
        writer.byte(state.firstSeen == nil ? 0 : 1)
        writer.littleEndian(state.firstSeen?.rawValue ?? 0)
        writer.littleEndian(state.lastSeen?.rawValue ?? 0)
        writer.occurrences(state.launches)
        writer.occurrences(state.sessions)
        writer.occurrences(state.flushes)
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
            writer.occurrences(event.occurrences)
        }
        writer.varint(UInt64(state.purchases.count))
        for purchase in state.purchases {
            writer.varint(UInt64(purchase.product))
            writer.occurrences(purchase.occurrences)
            writer.revenue(purchase.revenue)
        }
        writer.varint(UInt64(state.pending.count))
        for entry in state.pending {
            writer.varint(entry.position)
            writer.byte(entry.kind.rawValue)
            writer.littleEndian(entry.savedAt)
            writer.text(entry.device.text)
            writer.varint(UInt64(entry.storage.rawValue))
            writer.varint(UInt64(entry.body.count))
            entry.body.withUnsafeBytes { writer.raw($0) }
            writer.byte(entry.isQueued ? 1 : 0)
        }
        // The last three parts are there if they or a later one say anything: most states of most stores have none.
        let hasOrders = !state.orders.isEmpty
        if state.voids > 0 || !state.removals.isEmpty || hasOrders { writer.varint(state.voids) }
        if !state.removals.isEmpty || hasOrders {
            writer.varint(UInt64(state.removals.count))
            for (key, at) in state.removals.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
                writer.varint(UInt64(key.rawValue))
                writer.littleEndian(at)
            }
        }
        if hasOrders { writer.revenue(state.orders) }
        return Array(writer.bytes)
    }

    /// The state that `encode` wrote; nil if the bytes are invalid.
    package static func decode(_ bytes: UnsafeRawBufferPointer) -> ProfileState? {
        var reader = WireReader(bytes)
        var state = ProfileState()
        state.version = Version(rawValue: reader.varint())
        state.lastPosition = Position(rawValue: reader.varint())
        state.created = Position(rawValue: reader.varint())
        let isSeen = reader.varint() == 1
        let (first, last) = (reader.timestamp(), reader.timestamp())
        if isSeen {
            state.see(first.rawValue)
            state.see(last.rawValue)
        }
        state.launches = reader.occurrences()
        state.sessions = reader.occurrences()
        state.flushes = reader.occurrences()
        for _ in 0..<reader.count() {
            let key = FieldKey(rawValue: reader.number32())
            let position = reader.varint()
            let at = Int64(bitPattern: reader.fixed64())
            state.fields.set(key, reader.bytes(), position: position, at: at)
        }
        for _ in 0..<reader.count() {
            state.events.append(.init(name: reader.number32(), occurrences: reader.occurrences()))
        }
        for _ in 0..<reader.count() {
            var purchase = ProfileState.PurchaseSummary(product: reader.number32(), occurrences: reader.occurrences())
            purchase.revenue = reader.revenue()
            state.purchases.append(purchase)
        }
        for _ in 0..<reader.count() {
            let position = reader.varint()
            guard let kind = EventKind(rawValue: UInt8(truncatingIfNeeded: reader.varint())) else { return nil }
            let savedAt = Int64(bitPattern: reader.fixed64())
            let device = Name(reader.text())
            let storage = StorageCode(rawValue: reader.number32())
            state.pending.append(
                .init(
                    position: position, kind: kind, savedAt: savedAt, device: device, storage: storage,
                    body: Array(reader.bytes()), isQueued: reader.varint() == 1))
        }
        if !reader.isAtEnd { state.voids = reader.varint() }
        if !reader.isAtEnd {
            for _ in 0..<reader.count() {
                let key = FieldKey(rawValue: reader.number32())
                state.removals[key] = Int64(bitPattern: reader.fixed64())
            }
        }
        if !reader.isAtEnd { state.orders = reader.revenue() }
        return reader.isBad || !reader.isAtEnd ? nil : state
    }
}

// MARK: - Parts of states

extension WireWriter {
    mutating func occurrences(_ occurrences: ProfileState.Occurrences) {
        varint(occurrences.count)
        if occurrences.count == 0 { return }
        littleEndian(occurrences.first.rawValue)
        littleEndian(occurrences.last.rawValue)
        varint(occurrences.position.rawValue)
    }

    mutating func text(_ text: String) {
        varint(UInt64(text.utf8.count))
        text.withRawUTF8 { raw($0) }
    }

    /// Each as its currency, the decimal places and the digits; a sum whose digits do not fit 64 bits as its text.
    mutating func revenue(_ revenue: [ProfileState.Revenue]) {
        varint(UInt64(revenue.count))
        for revenue in revenue {
            text(revenue.currency)
            switch revenue.amount.form {
            case .short(let digits, let places):
                byte(places)
                littleEndian(digits)
            case .text(let digits):
                byte(WireReader.longSum)
                text(digits)
            }
        }
    }
}

extension WireReader {
    mutating func occurrences() -> ProfileState.Occurrences {
        let count = varint()
        if count == 0 { return .init() }
        return .init(count: count, first: timestamp(), last: timestamp(), position: Position(rawValue: varint()))
    }

    mutating func timestamp() -> Timestamp { Timestamp(rawValue: Int64(bitPattern: fixed64())) }

    /// The value in place of the decimal places.
    static let longSum: UInt8 = 0x7F

    mutating func revenue() -> [ProfileState.Revenue] {
        var revenue: [ProfileState.Revenue] = []
        for _ in 0..<count() {
            let currency = text()
            let places = UInt8(truncatingIfNeeded: varint())
            let form: ExactSum.Form =
                places == Self.longSum
                ? .text(text()) : .short(digits: Int64(bitPattern: fixed64()), places: places)
            guard let amount = ExactSum(form) else {
                fail()
                break
            }
            revenue.append(.init(currency: currency, amount: amount))
        }
        return revenue
    }

    mutating func number32() -> UInt32 { UInt32(truncatingIfNeeded: varint()) }
}
