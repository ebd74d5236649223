internal import CLMDB
internal import CPrefetch
internal import Synchronization

/// The addresses of a table's values in memory, by the numbers of their rows: a look-up is then two loads and no search
/// in LMDB's tree, which waits for memory at each step.
///
/// For a table that only grows at its end. LMDB does not change a page in place: it writes a changed copy elsewhere,
/// and reuses the old page when no transaction sees it any more. A commit changes the last page of such a table and no
/// earlier one. So an address that one transaction found is right in all later ones until rows are rewritten. After
/// that, and when the file is mapped again, the owner makes a new cache.
///
/// Takes 8 bytes for each row of the parts that are read (64 MiB at most), and 8 for each 128 rows of the whole table.
/// The owner replaces a full cache.
///
/// `@unchecked Sendable`: a block is not changed after an atomic store has published it, and freed with the cache.
package final class AddressCache: @unchecked Sendable {
    private static let rowsPerBlock: UInt64 = 128
    private static let blocksPerGroup = 16_384
    private static let groupCount = 1_024
    /// Blocks after which a cache is full.
    package static let mostBlocks = 65_536
    /// A block is read when it pays: it costs as much as some ten look-ups.
    private static let lookUpsPerBlock: UInt = 4
    /// A slot below this number counts look-ups; otherwise it is an address.
    private static let leastAddress: UInt = 4_096
    /// Fewer bytes than a row takes of a page.
    private static let fewestRowBytes: UInt64 = 20

    private let table: Table
    /// More rows than a page has: the last ones move with the next commit.
    private let movingRows: UInt64
    /// The addresses of groups; 0 for one without blocks. A group has a slot for each block, and a block for each row
    /// the address of its value and its size in 16 bits; 0 for a row without.
    private let groups: UnsafeMutablePointer<Atomic<UInt>>
    private let blockCount = Atomic(0)
    private let mostBlocks: Int
    private let readAhead: ReadAhead?

    /// A cache for `table`, whose keys are numbers, without addresses. `readAhead` is told of look-ups in LMDB's tree.
    package init(
        _ table: Table, _ transaction: borrowing some Reading & ~Copyable, mostBlocks: Int = mostBlocks,
        readAhead: ReadAhead? = nil
    ) throws(StorageError) {
        var stat = MDB_stat()
        try StorageError.check(mdb_stat(transaction.handle, table.handle, &stat), "statistics")
        (self.table, self.mostBlocks, self.readAhead) = (table, mostBlocks, readAhead)
        movingRows = UInt64(stat.ms_psize) / Self.fewestRowBytes
        groups = Self.slots(Self.groupCount)
    }

    deinit {
        for index in 0..<Self.groupCount {
            guard let group = Self.pointer(groups[index].load(ordering: .relaxed), to: Atomic<UInt>.self) else {
                continue
            }
            for index in 0..<Self.blocksPerGroup {
                let slot = group[index].load(ordering: .relaxed)
                if slot >= Self.leastAddress { Self.pointer(slot, to: UInt64.self)?.deallocate() }
            }
            group.deallocate()
        }
        groups.deallocate()
    }

    private static func slots(_ count: Int) -> UnsafeMutablePointer<Atomic<UInt>> {
        let slots = UnsafeMutablePointer<Atomic<UInt>>.allocate(capacity: count)
        for index in 0..<count { (slots + index).initialize(to: Atomic(0)) }
        return slots
    }

    @inline(__always)
    private static func pointer<Value: ~Copyable>(
        _ address: UInt, to _: Value.Type
    ) -> UnsafeMutablePointer<Value>? { UnsafeMutablePointer(bitPattern: address) }

    /// The slot of the block with `row`; nil if the group has none, or the number is too great.
    @inline(__always)
    private func slot(of row: UInt64) -> UnsafeMutablePointer<Atomic<UInt>>? {
        let (group, index) = Self.place(of: row)
        guard group < Self.groupCount else { return nil }
        return Self.pointer(groups[group].load(ordering: .acquiring), to: Atomic<UInt>.self).map { $0 + index }
    }

    @inline(__always)
    private static func place(of row: UInt64) -> (group: Int, index: Int) {
        let block = Int(clamping: row / rowsPerBlock)
        return (block / blocksPerGroup, block % blocksPerGroup)
    }

    /// Tells whether it takes no more addresses.
    package var isFull: Bool { blockCount.load(ordering: .relaxed) >= mostBlocks }

    // MARK: - Look-ups

    /// The value of a row; nil if its address is unknown. As valid as one that LMDB gives.
    package func value(of row: UInt64) -> UnsafeRawBufferPointer? {
        guard let slot = slot(of: row)?.pointee.load(ordering: .acquiring), slot >= Self.leastAddress,
            let block = Self.pointer(slot, to: UInt64.self)
        else { return nil }
        let entry = block[Int(row % Self.rowsPerBlock)]
        guard entry != 0 else { return nil }
        return UnsafeRawBufferPointer(
            start: UnsafeRawPointer(bitPattern: UInt(entry >> 16)), count: Int(entry & 0xFFFF))
    }

    /// Begins to load the value of a row from memory if its address is known. A reader of many rows so waits for all of
    /// them at once.
    package func prefetch(_ row: UInt64) {
        if let value = value(of: row) { profilelog_prefetch(value.baseAddress, value.count) }
    }

    /// Notes that a row was looked up in LMDB's tree. Reads the addresses of its block when that happened often.
    /// `last` is the last row that the transaction sees.
    package func noteLookUp(of row: UInt64, last: UInt64, in transaction: OpaquePointer) {
        readAhead?.noteLookUp(of: last)
        let first = row / Self.rowsPerBlock * Self.rowsPerBlock
        guard last > movingRows, first + Self.rowsPerBlock <= last - movingRows else { return }
        guard let slot = slot(of: row) ?? newSlot(of: row) else { return }
        let seen = slot.pointee.load(ordering: .relaxed)
        if seen >= Self.leastAddress { return }
        if seen + 1 < Self.lookUpsPerBlock {
            _ = slot.pointee.compareExchange(expected: seen, desired: seen + 1, ordering: .relaxed)
            return
        }
        guard !isFull, let block = try? readBlock(from: first, in: transaction) else { return }
        let address = UInt(bitPattern: block)
        if slot.pointee.compareExchange(expected: seen, desired: address, ordering: .acquiringAndReleasing).exchanged {
            blockCount.wrappingAdd(1, ordering: .relaxed)
        } else {
            block.deallocate()
        }
    }

    /// Notes that a user's rows in other tables are read, where this one has `last` rows.
    package func noteUser(last: UInt64) { readAhead?.noteLookUp(of: last) }

    private func newSlot(of row: UInt64) -> UnsafeMutablePointer<Atomic<UInt>>? {
        let group = Self.place(of: row).group
        guard group < Self.groupCount else { return nil }
        let fresh = Self.slots(Self.blocksPerGroup)
        let isFirst = groups[group].compareExchange(
            expected: 0, desired: UInt(bitPattern: fresh), ordering: .acquiringAndReleasing
        ).exchanged
        if !isFirst { fresh.deallocate() }
        return slot(of: row)
    }

    private func readBlock(
        from first: UInt64, in transaction: OpaquePointer
    ) throws(StorageError) -> UnsafeMutablePointer<UInt64> {
        let block = UnsafeMutablePointer<UInt64>.allocate(capacity: Int(Self.rowsPerBlock))
        block.initialize(repeating: 0, count: Int(Self.rowsPerBlock))
        do throws(StorageError) {
            var cursor = try Cursor(transaction, table)
            var row = try cursor.seek(max(first, 1))
            // A broken page may have any keys.
            while let found = row, let number = found.key.number, (first..<first + Self.rowsPerBlock).contains(number) {
                let address = UInt64(UInt(bitPattern: found.value.baseAddress))
                if found.value.count <= 0xFFFF, address < 1 << 48 {
                    block[Int(number - first)] = address << 16 | UInt64(found.value.count)
                }
                row = try cursor.next()
            }
        } catch {
            block.deallocate()
            throw error
        }
        return block
    }
}
