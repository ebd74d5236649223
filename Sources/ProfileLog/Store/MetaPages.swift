internal import CLMDB
internal import Glibc

/// How many bytes LMDB's file says that it has in use, in the two first pages, which take turns to say so.
enum MetaPages {
    /// Where the last page ends, by an open environment (`mdb_env_info`); `UInt64.max` if that is beyond all numbers.
    static func usedBytes(_ handle: OpaquePointer) -> UInt64 {
        var info = MDB_envinfo()
        var stat = MDB_stat()
        mdb_env_info(handle, &info)
        mdb_env_stat(handle, &stat)
        return end(ofPage: UInt64(UInt(bitPattern: info.me_last_pgno)), pageBytes: stat.ms_psize)
    }

    /// The same without LMDB, which cannot open a file that counts more pages than memory has addresses for; 0 if it cannot be read.
    ///
    ///     0  page header   40  bytes of a page, UInt32   136  last page, UInt64   (of either page, in the machine's order)
    static func usedBytes(file: String) -> UInt64 {
        let descriptor = Glibc.open(file, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return 0 }
        defer { close(descriptor) }
        var pageBytes: UInt32 = 0
        guard pread(descriptor, &pageBytes, 4, 40) == 4 else { return 0 }
        let ends = [0, Int(pageBytes)].map { page in
            var last: UInt64 = 0
            return pread(descriptor, &last, 8, page + 136) == 8 ? end(ofPage: last, pageBytes: pageBytes) : 0
        }
        return ends.max() ?? 0
    }

    /// What the page says that a commit wrote. They take turns by the commit's number.
    struct Page: Equatable {
        let rootOfFreePages: UInt64
        let lastPage: UInt64
    }

    /// The page that the commit of this number wrote, from the file; nil if it is not there, or another commit wrote it over.
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
