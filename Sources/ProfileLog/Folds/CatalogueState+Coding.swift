/// Writes and reads the state as `UsageProjection` does.
extension CatalogueProjection {
    package static func encode(_ state: CatalogueState) -> [UInt8] {
        var writer = WireWriter()
        write(state.events, to: &writer)
        write(state.products, to: &writer)
        writer.varint(UInt64(state.attributes.count))
        for (name, use) in state.attributes.sorted(by: { $0.key < $1.key }) {
            writer.varint(UInt64(name))
            writer.byte(use.first.rawValue)
            for count in use.counts { writer.varint(count) }
            writer.varint(use.longestArray)
        }
        writer.varint(UInt64(state.waiting.count))
        for (position, mentions) in state.waiting.sorted(by: { $0.key < $1.key }) {
            writer.varint(position)
            writer.varint(UInt64(mentions.count))
            for mention in mentions { write(mention, to: &writer) }
        }
        return Array(writer.bytes)
    }

    private static func write(_ counted: [UInt32: ProfileState.Occurrences], to writer: inout WireWriter) {
        writer.varint(UInt64(counted.count))
        for (name, occurrences) in counted.sorted(by: { $0.key < $1.key }) {
            writer.varint(UInt64(name))
            writer.occurrences(occurrences)
        }
    }

    /// Writes a mention, its name, and two numbers.
    private static func write(_ mention: CatalogueState.Mention, to writer: inout WireWriter) {
        let (kind, name, first, second): (UInt8, UInt32, UInt64, UInt64) =
            switch mention {
            case .event(let name, let at): (0, name, UInt64(bitPattern: at), 0)
            case .attribute(let name, let type, let elements): (1, name, UInt64(type.rawValue), elements)
            case .product(let name, let at, let quantity): (2, name, UInt64(bitPattern: at), quantity)
            }
        writer.byte(kind)
        writer.varint(UInt64(name))
        writer.varint(first)
        writer.varint(second)
    }

    package static func decode(_ bytes: UnsafeRawBufferPointer) -> CatalogueState? {
        var state = CatalogueState()
        var reader = WireReader(bytes)
        state.events = counted(&reader)
        state.products = counted(&reader)
        for _ in 0..<reader.count() {
            let name = reader.number32()
            guard let type = AttributeType(rawValue: UInt8(truncatingIfNeeded: reader.varint())) else { return nil }
            state.attributes[name] = .init(
                first: type, counts: AttributeType.allCases.map { _ in reader.varint() }, longestArray: reader.varint())
        }
        for _ in 0..<reader.count() {
            let position = reader.varint()
            var mentions: [CatalogueState.Mention] = []
            for _ in 0..<reader.count() {
                guard let mention = mention(&reader) else { return nil }
                mentions.append(mention)
            }
            state.waiting[position] = mentions
        }
        return reader.isBad || !reader.isAtEnd ? nil : state
    }

    private static func counted(_ reader: inout WireReader) -> [UInt32: ProfileState.Occurrences] {
        var counted: [UInt32: ProfileState.Occurrences] = [:]
        for _ in 0..<reader.count() { counted[reader.number32()] = reader.occurrences() }
        return counted
    }

    private static func mention(_ reader: inout WireReader) -> CatalogueState.Mention? {
        let (kind, name, first, second) = (reader.varint(), reader.number32(), reader.varint(), reader.varint())
        switch kind {
        case 0: return .event(name, at: Int64(bitPattern: first))
        case 1:
            return AttributeType(rawValue: UInt8(truncatingIfNeeded: first)).map {
                .attribute(name, $0, elements: second)
            }
        case 2: return .product(name, at: Int64(bitPattern: first), quantity: second)
        default: return nil
        }
    }
}
