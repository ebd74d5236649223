/// The state as a message: equal states, equal bytes, as everything is in ascending order.
extension CatalogueProjection {
    private enum Field {
        static let event: UInt32 = 1
        static let attribute: UInt32 = 2
        static let product: UInt32 = 3
        static let waiting: UInt32 = 4
    }

    /// The state's bytes.
    package static func encode(_ state: CatalogueState) -> [UInt8] {
        var writer = WireWriter()
        for (name, occurrences) in state.events.sorted(by: { $0.key < $1.key }) {
            write(name, occurrences, as: Field.event, to: &writer)
        }
        for (name, use) in state.attributes.sorted(by: { $0.key < $1.key }) {
            let begin = writer.beginMessage(Field.attribute)
            writer.field(1, varint: UInt64(name))
            writer.field(2, varint: UInt64(use.first.rawValue))
            for count in use.counts { writer.field(3, varint: count) }
            writer.field(4, varint: use.longestArray)
            writer.endMessage(begin)
        }
        for (name, occurrences) in state.products.sorted(by: { $0.key < $1.key }) {
            write(name, occurrences, as: Field.product, to: &writer)
        }
        for (position, mentions) in state.waiting.sorted(by: { $0.key < $1.key }) {
            let begin = writer.beginMessage(Field.waiting)
            writer.field(1, varint: position)
            for mention in mentions { write(mention, to: &writer) }
            writer.endMessage(begin)
        }
        return Array(writer.bytes)
    }

    /// The state that `encode` wrote; nil if the bytes are invalid.
    package static func decode(_ bytes: UnsafeRawBufferPointer) -> CatalogueState? {
        var state = CatalogueState()
        var reader = WireReader(bytes)
        while let field = reader.field() {
            guard field.type == .bytes else { return nil }
            let message = reader.bytes()
            switch field.number {
            case Field.event:
                guard let (name, occurrences) = occurrences(message) else { return nil }
                state.events[name] = occurrences
            case Field.product:
                guard let (name, occurrences) = occurrences(message) else { return nil }
                state.products[name] = occurrences
            case Field.attribute: guard readAttribute(message, &state) else { return nil }
            case Field.waiting: guard readWaiting(message, &state) else { return nil }
            default: return nil
            }
        }
        return reader.isBad ? nil : state
    }

    // MARK: - Parts

    private static func write(
        _ name: UInt32, _ occurrences: ProfileState.Occurrences, as field: UInt32, to writer: inout WireWriter
    ) {
        let begin = writer.beginMessage(field)
        writer.field(1, varint: UInt64(name))
        writer.field(2, varint: occurrences.count)
        writer.field(3, signed: occurrences.first.rawValue)
        writer.field(4, signed: occurrences.last.rawValue)
        writer.field(5, varint: occurrences.position.rawValue)
        writer.endMessage(begin)
    }

    private static func occurrences(_ message: UnsafeRawBufferPointer) -> (UInt32, ProfileState.Occurrences)? {
        var name: UInt32 = 0
        var occurrences = ProfileState.Occurrences()
        var reader = WireReader(message)
        while let field = reader.field() {
            guard field.type == .varint else { return nil }
            switch field.number {
            case 1: name = UInt32(truncatingIfNeeded: reader.varint())
            case 2: occurrences.count = reader.varint()
            case 3: occurrences.first = Timestamp(rawValue: reader.signed())
            case 4: occurrences.last = Timestamp(rawValue: reader.signed())
            case 5: occurrences.position = Position(rawValue: reader.varint())
            default: return nil
            }
        }
        return reader.isBad ? nil : (name, occurrences)
    }

    private static func readAttribute(_ message: UnsafeRawBufferPointer, _ state: inout CatalogueState) -> Bool {
        var numbers: [UInt64] = []
        var reader = WireReader(message)
        while let field = reader.field() {
            guard field.type == .varint else { return false }
            numbers.append(reader.varint())
        }
        let types = AttributeType.allCases.count
        guard !reader.isBad, numbers.count == types + 3,
            let type = AttributeType(rawValue: UInt8(truncatingIfNeeded: numbers[1]))
        else { return false }
        state.attributes[UInt32(truncatingIfNeeded: numbers[0])] = .init(
            first: type, counts: Array(numbers[2..<(types + 2)]), longestArray: numbers[types + 2])
        return true
    }

    /// Kind, name, and the kind's further fields.
    private static func write(_ mention: CatalogueState.Mention, to writer: inout WireWriter) {
        let begin = writer.beginMessage(2)
        switch mention {
        case .event(let name, let at):
            writer.field(1, varint: UInt64(name))
            writer.field(2, signed: at)
        case .attribute(let name, let type, let elements):
            writer.field(3, varint: UInt64(name))
            writer.field(4, varint: UInt64(type.rawValue))
            writer.field(5, varint: elements)
        case .product(let name, let at, let quantity):
            writer.field(6, varint: UInt64(name))
            writer.field(2, signed: at)
            writer.field(7, varint: quantity)
        }
        writer.endMessage(begin)
    }

    private static func readWaiting(_ message: UnsafeRawBufferPointer, _ state: inout CatalogueState) -> Bool {
        var position: UInt64 = 0
        var mentions: [CatalogueState.Mention] = []
        var reader = WireReader(message)
        while let field = reader.field() {
            switch (field.number, field.type) {
            case (1, .varint): position = reader.varint()
            case (2, .bytes):
                guard let mention = mention(reader.bytes()) else { return false }
                mentions.append(mention)
            default: return false
            }
        }
        state.waiting[position] = mentions
        return !reader.isBad
    }

    private static func mention(_ message: UnsafeRawBufferPointer) -> CatalogueState.Mention? {
        var at: Int64 = 0
        var numbers = [UInt64](repeating: 0, count: 8)
        var reader = WireReader(message)
        while let field = reader.field() {
            guard field.type == .varint, field.number < numbers.count else { return nil }
            if field.number == 2 { at = reader.signed() } else { numbers[Int(field.number)] = reader.varint() }
        }
        if reader.isBad { return nil }
        func name(_ field: Int) -> UInt32 { UInt32(truncatingIfNeeded: numbers[field]) }
        if numbers[1] > 0 { return .event(name(1), at: at) }
        if numbers[6] > 0 { return .product(name(6), at: at, quantity: numbers[7]) }
        guard numbers[3] > 0, let type = AttributeType(rawValue: UInt8(truncatingIfNeeded: numbers[4])) else {
            return nil
        }
        return .attribute(name(3), type, elements: numbers[5])
    }
}
