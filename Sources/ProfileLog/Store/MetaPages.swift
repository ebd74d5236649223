internal import CLMDB
internal import Glibc

/// The two meta pages of LMDB's file, which say how many bytes are in use. Commits write them in turn.
enum MetaPages {
    /// Bytes of both pages.
    static let bytes = 2 * UInt64(getpagesize())

    /// Tells whether `file` holds only a part of what LMDB writes first into a new file, with zeros for the rest: its
    /// creation stopped before the first commit. A file with a commit differs within the first 48 bytes of either page.
    static func areUnfinished(file: String) -> Bool {
        withFile(file) { descriptor in
            var found = [UInt8](repeating: 0, count: Int(bytes) + 1)
            let count = read(descriptor, &found, found.count)
            return count >= 0 && count <= bytes && zip(found, fresh).allSatisfy { $0 == 0 || $0 == $1 }
        } ?? false
    }

    /// Runs `body` with a descriptor of `file`; nil if it cannot be opened for reading.
    static func withFile<Result>(_ file: String, _ body: (Int32) -> Result) -> Result? {
        let descriptor = Glibc.open(file, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        return body(descriptor)
    }

    /// The two pages of a new file (`mdb_env_init_meta`).
    private static let fresh: [UInt8] = {
        var pages = [UInt8](repeating: 0, count: Int(bytes))
        pages.withUnsafeMutableBytes { pages in
            for number in 0...1 {
                let page = UnsafeMutableRawBufferPointer(rebasing: pages[(number * Int(bytes) / 2)...])
                page.storeBytes(of: UInt64(number), toByteOffset: 0, as: UInt64.self)
                page.storeBytes(of: 8, toByteOffset: 10, as: UInt16.self)  // P_META
                page.storeBytes(of: magic, toByteOffset: 16, as: UInt32.self)
                page.storeBytes(of: 1, toByteOffset: 20, as: UInt32.self)  // version
                page.storeBytes(of: UInt64(Environment.mapSizeBytes), toByteOffset: 32, as: UInt64.self)
                page.storeBytes(of: UInt32(bytes / 2), toByteOffset: 40, as: UInt32.self)
                page.storeBytes(of: 8, toByteOffset: 44, as: UInt16.self)  // MDB_INTEGERKEY, of the list of free pages
                page.storeBytes(of: .max, toByteOffset: 80, as: UInt64.self)  // no root of that list
                page.storeBytes(of: .max, toByteOffset: 128, as: UInt64.self)  // no root of the tables
                page.storeBytes(of: 1, toByteOffset: 136, as: UInt64.self)  // last page
            }
        }
        return pages
    }()

    /// Identifies LMDB's files: `mm_magic`, after 16 bytes of page header.
    static let magic: UInt32 = 0xBEEF_C0DE

    /// Returns the end of the last page, by an open environment (`mdb_env_info`); `UInt64.max` on overflow.
    static func usedBytes(_ handle: OpaquePointer) -> UInt64 {
        var info = MDB_envinfo()
        var stat = MDB_stat()
        mdb_env_info(handle, &info)
        mdb_env_stat(handle, &stat)
        return end(ofPage: UInt64(UInt(bitPattern: info.me_last_pgno)), pageBytes: stat.ms_psize)
    }

    /// Bytes of a page of an open environment.
    static func pageBytes(_ handle: OpaquePointer) -> Int {
        var stat = MDB_stat()
        mdb_env_stat(handle, &stat)
        return Int(stat.ms_psize)
    }

    /// The newest commit in the data file of an open environment, whatever the lock file says (`mdb_env_info`).
    static func newestCommit(_ handle: OpaquePointer) -> Int {
        var info = MDB_envinfo()
        mdb_env_info(handle, &info)
        return info.me_last_txnid
    }

    /// The same without LMDB, which cannot open a file that counts more pages than memory has addresses for; 0 if it
    /// cannot be read.
    ///
    ///     0  page header   40  bytes of a page, UInt32   136  last page, UInt64   (in the machine's order)
    static func usedBytes(file: String) -> UInt64 {
        withFile(file) { descriptor in
            var pageBytes: UInt32 = 0
            guard pread(descriptor, &pageBytes, 4, 40) == 4 else { return 0 }
            let ends = [0, Int(pageBytes)].map { page in
                var last: UInt64 = 0
                return pread(descriptor, &last, 8, page + 136) == 8 ? end(ofPage: last, pageBytes: pageBytes) : 0
            }
            return ends.max() ?? 0
        } ?? 0
    }

    /// Tells whether `file` has the meta pages of a store: LMDB's, with the size of map that ProfileLog reserves.
    /// Another program's file has another size.
    static func areOurs(file: String) -> Bool {
        withFile(file) { descriptor in
            var bytes = [UInt8](repeating: 0, count: 48)
            guard pread(descriptor, &bytes, 48, 0) == 48 else { return false }
            return bytes.withUnsafeBytes {
                $0.loadUnaligned(fromByteOffset: 16, as: UInt32.self) == magic
                    && $0.loadUnaligned(fromByteOffset: 32, as: UInt64.self) == UInt64(Environment.mapSizeBytes)
            }
        } ?? false
    }

    /// The facts of a meta page about its commit. The commit's number decides which page it writes.
    struct Page: Equatable {
        let rootOfFreePages: UInt64
        let lastPage: UInt64
    }

    /// The page that the commit of this number wrote, from the file; nil if it is missing, or was overwritten by
    /// another commit.
    ///
    ///     80  root of the list of free pages, UInt64   136  last page, UInt64   144  number of the commit, UInt64
    static func page(ofCommit commit: UInt64, _ descriptor: Int32, pageBytes: UInt64) -> Page? {
        var bytes = [UInt8](repeating: 0, count: 152)
        let begin = off_t(commit % 2 * pageBytes)
        guard pread(descriptor, &bytes, bytes.count, begin) == bytes.count else { return nil }
        return bytes.withUnsafeBytes { bytes in
            func number(_ offset: Int) -> UInt64 { bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self) }
            return number(144) == commit ? Page(rootOfFreePages: number(80), lastPage: number(136)) : nil
        }
    }

    private static func end(ofPage last: UInt64, pageBytes: UInt32) -> UInt64 {
        let (bytes, isBeyond) = (last &+ 1).multipliedReportingOverflow(by: UInt64(pageBytes))
        return isBeyond || last == .max ? .max : bytes
    }
}
