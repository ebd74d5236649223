/// Elements that are added to a large array, or removed from it, one by one. The array stays in its place, so that an
/// element does not cost a pass over all others.
extension FieldStore {
    /// The change of an element.
    enum ElementChange {
        /// The element becomes the last one, and equal ones are removed.
        case moveToEnd
        /// The element becomes the last one, unless there is an equal one.
        case addMissing
        /// The element becomes the last one.
        case append
        /// Equal ones are gone.
        case remove
    }

    /// A smaller array is read and written as a whole.
    private static let large: UInt32 = 256
    /// More elements at once are looked for in one pass.
    private static let few = 8

    /// Makes `change` with each of `elements` in turn; false, with nothing changed, unless the value is a large array
    /// and the elements are few.
    mutating func change(
        _ key: FieldKey, _ change: ElementChange, _ elements: [AttributeValue], position: UInt64, at: Int64
    ) -> Bool {
        guard elements.count <= Self.few else { return false }
        let (index, found) = index(of: key)
        guard found, fields[index].length >= Self.large || fields[index].room > 0 else { return false }
        var writer = WireWriter()
        if fields[index].room == 0 {
            guard let array = value(fields[index]), case .array = array else { return false }
            // As `ValueCodec` writes it: an old record may have another form.
            ValueCodec.write(array, to: &writer)
            place(writer.bytes, at: index, adding: 0)
        }
        for element in elements {
            writer.removeAll()
            let begin = writer.beginMessage(1)
            ValueCodec.write(element, to: &writer)
            writer.endMessage(begin)
            make(change, writer.bytes, at: index)
        }
        (fields[index].position, fields[index].at) = (position, at)
        return true
    }

    private mutating func make(_ change: ElementChange, _ item: UnsafeRawBufferPointer, at index: Int) {
        let hash = ArrayRegion.hash(item)
        let isDone = withRegion(index) { region in
            switch change {
            case .remove:
                region.remove(item, hash)
                return true
            case .addMissing: if region.contains(item, hash) { return true }
            case .moveToEnd: region.remove(item, hash)
            case .append: break
            }
            return region.append(item, hash)
        }
        if isDone { return }
        let value = withBytes(fields[index]) { Array($0) }
        value.withUnsafeBytes { place($0, at: index, adding: item.count) }
        _ = withRegion(index) { $0.append(item, hash) }
    }

    private mutating func withRegion<Result>(_ index: Int, _ body: (inout ArrayRegion) -> Result) -> Result {
        let (begin, room) = (Int(fields[index].offset), Int(fields[index].room))
        var length = Int(fields[index].length)
        let result = arena.withUnsafeMutableBytes { arena in
            var region = ArrayRegion(.init(rebasing: arena[begin..<begin + room]), length: length)
            defer { length = region.length }
            return body(&region)
        }
        fields[index].length = UInt32(length)
        return result
    }

    /// Moves an array to a region with room for `more` bytes, and for as much as it has.
    private mutating func place(_ value: UnsafeRawBufferPointer, at index: Int, adding more: Int) {
        let slots = ArrayRegion.slots(for: value)
        let room = ArrayRegion.room(for: 2 * (value.count + more), slots: slots)
        garbage += fields[index].extent
        fields[index].offset = append(value)
        // The library fills an array in one step, also in a debug build; a sequence is appended byte by byte there.
        arena += [UInt8](repeating: 0, count: room - value.count)
        (fields[index].length, fields[index].room) = (UInt32(value.count), UInt32(room))
        withRegion(index) { $0.fill(slots: slots) }
        compactIfWorthwhile()
    }
}

/// An array in its stored form, room for more, and the hashes of its elements.
///
/// ```
/// tag | bytes of the elements, varint | elements … | free …
/// hash uint32, slots times | slots uint32 | used uint32
/// ```
///
/// Equal elements have equal bytes. A hash that is not in the table says that there is no such element; a found entry
/// may be of a removed element, or of another one.
private struct ArrayRegion {
    private let bytes: UnsafeMutableRawBufferPointer
    /// The length of the array.
    private(set) var length: Int

    init(_ bytes: UnsafeMutableRawBufferPointer, length: Int) { (self.bytes, self.length) = (bytes, length) }

    /// The most that a longer length of the elements may take.
    private static let slack = 8
    private static let numbers = 8

    static func room(for length: Int, slots: Int) -> Int { length + slack + 4 * slots + numbers }

    /// Returns the number of slots that an array and as many elements more need.
    static func slots(for value: UnsafeRawBufferPointer) -> Int {
        var count = 0
        forEachItem(of: value) { _ in count += 1 }
        return 1 << (Int.bitWidth - (4 * count + 63).leadingZeroBitCount)
    }

    static func hash(_ item: UnsafeRawBufferPointer) -> UInt32 { max(1, crc32c(item)) }

    // MARK: - Elements

    private var value: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: bytes[..<length]) }

    /// Calls `body` with the place of each element.
    private static func forEachItem(of value: UnsafeRawBufferPointer, _ body: (Range<Int>) -> Void) {
        guard let base = value.baseAddress else { return }
        var reader = WireReader(value)
        _ = reader.field()
        _ = reader.varint()
        while reader.next < reader.end {
            let begin = reader.next - base
            _ = reader.field()
            _ = reader.bytes()
            body(begin..<reader.next - base)
        }
    }

    func contains(_ item: UnsafeRawBufferPointer, _ hash: UInt32) -> Bool {
        guard slot(of: hash).isFound else { return false }
        var isThere = false
        Self.forEachItem(of: value) { isThere = isThere || value.slice($0).hasSameBytes(as: item) }
        return isThere
    }

    /// Removes all elements that are equal to `item`.
    mutating func remove(_ item: UnsafeRawBufferPointer, _ hash: UInt32) {
        guard slot(of: hash).isFound else { return }
        var end: Int?
        Self.forEachItem(of: value) { place in
            if value.slice(place).hasSameBytes(as: item) {
                end = end ?? place.lowerBound
            } else if let to = end {
                move(place, to: to)
                end = to + place.count
            }
        }
        if let end { setLength(end) }
    }

    /// Adds `item` at the end; false if there is no room for it.
    mutating func append(_ item: UnsafeRawBufferPointer, _ hash: UInt32) -> Bool {
        guard length + item.count + Self.slack <= bytes.count - Self.numbers - 4 * slots, 2 * (used + 1) <= slots else {
            return false
        }
        UnsafeMutableRawBufferPointer(rebasing: bytes[length..<length + item.count]).copyMemory(from: item)
        setLength(length + item.count)
        insert(hash)
        return true
    }

    private func move(_ place: Range<Int>, to begin: Int) {
        UnsafeMutableRawBufferPointer(rebasing: bytes[begin..<begin + place.count]).copyMemory(
            from: value.slice(place))
    }

    /// Gives the array this length. The length of its elements may then take another number of bytes.
    private mutating func setLength(_ end: Int) {
        var reader = WireReader(value)
        _ = reader.field()
        _ = reader.varint()
        let begin = length - (reader.end - reader.next)
        var rest = end - begin
        let size = 1 + (max(1, Int.bitWidth - rest.leadingZeroBitCount) + 6) / 7
        length = end
        if size != begin {
            length = end + size - begin
            bytes.baseAddress.map { ($0 + size).copyMemory(from: $0 + begin, byteCount: rest) }
        }
        for place in 1..<size {
            bytes[place] = UInt8(truncatingIfNeeded: rest) & 0x7F | (place + 1 < size ? 0x80 : 0)
            rest >>= 7
        }
    }

    // MARK: - Hashes

    private var slots: Int { Int(bytes.loadUnaligned(fromByteOffset: bytes.count - 8, as: UInt32.self)) }

    private var used: Int {
        get { Int(bytes.loadUnaligned(fromByteOffset: bytes.count - 4, as: UInt32.self)) }
        nonmutating set { bytes.storeBytes(of: UInt32(newValue), toByteOffset: bytes.count - 4, as: UInt32.self) }
    }

    /// Makes the table, whose bytes are 0.
    func fill(slots: Int) {
        bytes.storeBytes(of: UInt32(slots), toByteOffset: bytes.count - 8, as: UInt32.self)
        Self.forEachItem(of: value) { insert(Self.hash(value.slice($0))) }
    }

    private func slot(of hash: UInt32) -> (offset: Int, isFound: Bool) {
        let slots = slots
        let table = bytes.count - Self.numbers - 4 * slots
        var slot = Int(hash) & (slots - 1)
        while true {
            let known = bytes.loadUnaligned(fromByteOffset: table + 4 * slot, as: UInt32.self)
            if known == hash || known == 0 { return (table + 4 * slot, known == hash) }
            slot = (slot + 1) & (slots - 1)
        }
    }

    private func insert(_ hash: UInt32) {
        let (offset, isFound) = slot(of: hash)
        if isFound { return }
        bytes.storeBytes(of: hash, toByteOffset: offset, as: UInt32.self)
        used += 1
    }
}
