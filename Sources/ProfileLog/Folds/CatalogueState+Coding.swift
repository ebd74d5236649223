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
        return Array(writer.bytes)
    }

    private static func write(_ counted: [UInt32: ProfileState.Occurrences], to writer: inout WireWriter) {
        writer.varint(UInt64(counted.count))
        for (name, occurrences) in counted.sorted(by: { $0.key < $1.key }) {
            writer.varint(UInt64(name))
            writer.occurrences(occurrences)
        }
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
        return reader.isBad || !reader.isAtEnd ? nil : state
    }

    private static func counted(_ reader: inout WireReader) -> [UInt32: ProfileState.Occurrences] {
        var counted: [UInt32: ProfileState.Occurrences] = [:]
        for _ in 0..<reader.count() { counted[reader.number32()] = reader.occurrences() }
        return counted
    }
}
