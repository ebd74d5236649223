internal import CLMDB
internal import Glibc

/// Checks a file that has fewer pages than its meta page counts, which alone is not damage.
///
/// LMDB does not write a page that it took from the file's end and gave back in the same transaction (`P_LOOSE`, and
/// the pages of a long value that is deleted again), but counts it: it is on the list of free pages, and the next
/// commit that uses it writes it first. So nothing is lost if all missing pages are on that list.
///
/// The list is a tree: its rows hold page numbers, by the commit that freed them. It is read with `pread`, since a page
/// after the file's end is a crash in the map. Nothing in it is trusted: an invalid list means a truncated file. All
/// numbers are in the machine's order.
///
///     page    0  its number, UInt64         10  flags, UInt16             12  where the offsets end, UInt16
///             16  offsets of its rows, UInt16 each
///     row     0  bytes of the value, UInt32  4  flags, UInt16              6  bytes of the key, UInt16
///             8  key, value (or the number of its own page)
///     branch  0  page below, UInt48
///     value   0  how many follow, UInt64   8  numbers of free pages, UInt64 each
struct ShortFile {
    private let descriptor: Int32
    private let pageBytes: UInt64
    /// The number of whole pages.
    private let pages: UInt64
    private let lastPage: UInt64
    /// The pages of the list that were read: each belongs to it once.
    private var seen: Set<UInt64> = []
    /// The pages after the file's end that are free.
    private var free: Set<UInt64> = []

    /// Tells whether an open environment's file lacks nothing but free pages.
    static func isWhole(_ environment: OpaquePointer, descriptor: Int32) throws(StorageError) -> Bool {
        var stat = MDB_stat()
        mdb_env_stat(environment, &stat)
        // Two commits later another process may write over the meta page.
        for _ in 0..<10 {
            let snapshot = try ReadTransaction(environment)
            if let verdict = verdict(snapshot, descriptor, pageBytes: UInt64(stat.ms_psize)) { return verdict }
        }
        return false
    }

    /// As above, in the view of `snapshot`: while it is open, its pages are not overwritten. Nil if its meta page was.
    private static func verdict(
        _ snapshot: borrowing ReadTransaction, _ descriptor: Int32, pageBytes: UInt64
    ) -> Bool? {
        func meta() -> MetaPages.Page? {
            MetaPages.page(ofCommit: UInt64(mdb_txn_id(snapshot.handle)), descriptor, pageBytes: pageBytes)
        }
        guard pageBytes >= 256, let before = meta(), let identity = FileIdentity(descriptor: descriptor) else {
            return nil
        }
        var file = ShortFile(
            descriptor, pageBytes: pageBytes, pages: identity.bytes / pageBytes, lastPage: before.lastPage)
        if file.lacksFreePagesAlone(root: before.rootOfFreePages) { return true }
        return meta() == before ? false : nil
    }

    private init(_ descriptor: Int32, pageBytes: UInt64, pages: UInt64, lastPage: UInt64) {
        self.descriptor = descriptor
        self.pageBytes = pageBytes
        self.pages = pages
        self.lastPage = lastPage
    }

    private mutating func lacksFreePagesAlone(root: UInt64) -> Bool {
        // An empty list has no root: that number is no page's.
        lastPage < pages || (walk(root, depth: 0) && UInt64(free.count) == lastPage - pages + 1)
    }

    /// Reads the list from `page` downwards. False if it is invalid.
    private mutating func walk(_ page: UInt64, depth: Int) -> Bool {
        guard depth < 32, let bytes = read(page) else { return false }
        let isBranch = bytes.number(10, as: UInt16.self) & 1 == 1
        guard isBranch || bytes.number(10, as: UInt16.self) & 2 == 2 else { return false }
        let offsetsEnd = Int(bytes.number(12, as: UInt16.self))
        guard offsetsEnd >= 16, offsetsEnd <= bytes.count else { return false }
        for offset in stride(from: 16, to: offsetsEnd - 1, by: 2) {
            let row = Int(bytes.number(offset, as: UInt16.self))
            guard row >= offsetsEnd, row + 8 <= bytes.count else { return false }
            let flags = bytes.number(row + 4, as: UInt16.self)
            let size = UInt64(bytes.number(row, as: UInt32.self))
            let isRight =
                isBranch
                ? walk(size | UInt64(flags) << 32, depth: depth + 1)
                : take(bytes, value: row + 8 + Int(bytes.number(row + 6, as: UInt16.self)), size, flags, of: page)
            if !isRight { return false }
        }
        return true
    }

    /// Reads a row's value of `size` bytes, which is at `value` in `page`, or in overflow pages whose number is there.
    private mutating func take(
        _ bytes: [UInt8], value: Int, _ size: UInt64, _ flags: UInt16, of page: UInt64
    ) -> Bool {
        switch flags {
        case 0: return value + Int(size) <= bytes.count && takeNumbers(at: page * pageBytes + UInt64(value), size)
        case 1:
            guard value + 8 <= bytes.count else { return false }
            let first = bytes.number(value, as: UInt64.self)
            let end = first.addingReportingOverflow((16 + size + pageBytes - 1) / pageBytes)
            guard !end.overflow, end.partialValue <= pages,
                read(at: first * pageBytes, bytes: 8)?.number(0, as: UInt64.self) == first
            else { return false }
            for page in first..<end.partialValue where !seen.insert(page).inserted { return false }
            return takeNumbers(at: first * pageBytes + 16, size)
        default: return false
        }
    }

    /// Reads the page numbers in a value of `size` bytes.
    private mutating func takeNumbers(at offset: UInt64, _ size: UInt64) -> Bool {
        guard size >= 8, let count = read(at: offset, bytes: 8)?.number(0, as: UInt64.self), count <= size / 8 - 1
        else { return false }
        var (offset, left) = (offset + 8, count)
        while left > 0 {
            let next = min(left, 1024)
            guard let bytes = read(at: offset, bytes: Int(next) * 8) else { return false }
            for index in 0..<Int(next) {
                let page = bytes.number(index * 8, as: UInt64.self)
                if page >= pages, page <= lastPage { free.insert(page) }
            }
            (offset, left) = (offset + next * 8, left - next)
        }
        return true
    }

    /// The bytes of a page of the list; nil if it was read already or is outside of the file.
    private mutating func read(_ page: UInt64) -> [UInt8]? {
        guard page < pages, seen.insert(page).inserted, let bytes = read(at: page * pageBytes, bytes: Int(pageBytes)),
            bytes.number(0, as: UInt64.self) == page
        else { return nil }
        return bytes
    }

    private func read(at offset: UInt64, bytes count: Int) -> [UInt8]? {
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            initialized = max(0, pread(descriptor, buffer.baseAddress, count, off_t(offset)))
        }
        return bytes.count == count ? bytes : nil
    }
}

extension [UInt8] {
    /// The number at `offset`, in the machine's order.
    fileprivate func number<Value: FixedWidthInteger>(_ offset: Int, as _: Value.Type) -> Value {
        withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: Value.self) }
    }
}
