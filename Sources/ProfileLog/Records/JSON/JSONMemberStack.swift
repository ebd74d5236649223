/// The members of all objects that a parser has open, the innermost on top.
///
/// One block of memory serves a whole document. A finished object moves its members from the top into an array of
/// exactly their size.
struct JSONMemberStack: ~Copyable {
    /// A member with its sort key and its offset.
    struct Entry {
        var member: AttributeValue.Member
        /// The first eight bytes of the key as a big-endian number, padded with zeros: orders most keys with one
        /// comparison.
        var prefix: UInt64
        /// The offset of the key's quotation mark in the input.
        var offset: Int

        @inline(__always)
        func precedes(_ other: Entry) -> Bool {
            prefix != other.prefix ? prefix < other.prefix : order(against: other) < 0
        }

        @inline(__always)
        func hasSameKey(as other: Entry) -> Bool { prefix == other.prefix && order(against: other) == 0 }

        /// Negative, 0 or positive: this key is less than, equal to or greater than the other.
        @inline(never)
        private func order(against other: Entry) -> Int { member.key.text.order(to: other.member.key.text) }
    }

    private(set) var count = 0
    private var capacity = 12
    private var entries = UnsafeMutablePointer<Entry>.allocate(capacity: 12)

    deinit {
        entries.deinitialize(count: count)
        entries.deallocate()
    }

    /// Puts `entry` on top.
    @inline(__always)
    mutating func push(_ entry: consuming Entry) {
        if count == capacity { grow() }
        entries.advanced(by: count).initialize(to: entry)
        count += 1
    }

    /// Takes the entries from index `first` up and gives their members in ascending order of key bytes; with
    /// `isSorted` false in their own order, whatever their keys are. If a key is there twice, it throws, and takes them
    /// all the same.
    mutating func pop(from first: Int, isSorted: Bool = true) throws(JSONError) -> [AttributeValue.Member] {
        let own = UnsafeMutableBufferPointer(start: entries + first, count: count - first)
        if isSorted {
            Self.sort(own)
            for index in 1..<own.count where own[index - 1].hasSameKey(as: own[index]) {
                let offset = max(own[index - 1].offset, own[index].offset)
                let key = own[index].member.key.text
                own.deinitialize()
                count = first
                throw JSONError(.duplicateKey(key), at: offset)
            }
        }
        count = first
        return Array(unsafeUninitializedCapacity: own.count) { members, initializedCount in
            for index in own.indices {
                members.initializeElement(at: index, to: own.moveElement(from: index).member)
            }
            initializedCount = own.count
        }
    }

    /// `Entry.prefix` of `key`, whose content is at `start..<end` of the input, perhaps with escapes.
    @inline(__always)
    static func orderPrefix(
        of key: String, writtenAt start: UnsafePointer<UInt8>, upTo end: UnsafePointer<UInt8>
    ) -> UInt64 {
        let length = end - start
        guard length == key.utf8.count else { return orderPrefix(key.utf8) }
        // Only escapes shorten a key, so these are its bytes.
        if length >= 8 { return UInt64(bigEndian: UnsafeRawPointer(start).loadUnaligned(as: UInt64.self)) }
        return orderPrefix(UnsafeBufferPointer(start: start, count: length))
    }

    @inline(__always)
    private static func orderPrefix(_ bytes: some Collection<UInt8>) -> UInt64 {
        var prefix: UInt64 = 0
        var shift: UInt64 = 64
        for byte in bytes.prefix(8) {
            shift -= 8
            prefix |= UInt64(byte) << shift
        }
        return prefix
    }

    @inline(never)
    private mutating func grow() {
        capacity *= 2
        let larger = UnsafeMutablePointer<Entry>.allocate(capacity: capacity)
        larger.moveInitialize(from: entries, count: count)
        entries.deallocate()
        entries = larger
    }

    /// Insertion sort for usual objects, the library's sort for large ones.
    private static func sort(_ entries: UnsafeMutableBufferPointer<Entry>) {
        guard entries.count <= 24 else {
            var entries = entries
            return entries.sort { $0.precedes($1) }
        }
        for index in entries.indices.dropFirst() where entries[index].precedes(entries[index - 1]) {
            let moving = entries.moveElement(from: index)
            var hole = index
            repeat {
                entries.initializeElement(at: hole, to: entries.moveElement(from: hole - 1))
                hole -= 1
            } while hole > 0 && moving.precedes(entries[hole - 1])
            entries.initializeElement(at: hole, to: moving)
        }
    }
}
