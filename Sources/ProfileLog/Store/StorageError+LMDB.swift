internal import CLMDB
internal import Glibc

extension StorageError {
    /// Throws what `code` of an LMDB call means, unless it is success.
    static func check(_ code: Int32, _ operation: StaticString) throws(StorageError) {
        if code == 0 { return }
        throw from(code, operation)
    }

    /// The handle that `open` makes by an LMDB call. Throws what its code means.
    static func handle(
        _ operation: StaticString, _ open: (inout OpaquePointer?) -> Int32
    ) throws(StorageError) -> OpaquePointer {
        var handle: OpaquePointer?
        try check(open(&handle), operation)
        guard let handle else { throw .system(operation: "\(operation)", code: 0) }
        return handle
    }

    static func from(_ code: Int32, _ operation: StaticString) -> StorageError {
        switch code {
        case ENOSPC: .diskFull
        case MDB_MAP_FULL: .mapFull(bytes: Environment.mapSizeBytes)
        case MDB_READERS_FULL: .readersFull
        // Only LMDB's lock on the process number fails at once.
        case EAGAIN: .processNumberTaken(number: getpid())
        case MDB_PANIC: .closedAfterFailure
        // After a broken page the transaction answers everything with `MDB_BAD_TXN`; a page that points to itself fills
        // the cursor's stack.
        case MDB_CORRUPTED, MDB_PAGE_NOTFOUND, MDB_BAD_TXN, MDB_CURSOR_FULL: .brokenPage(operation: "\(operation)")
        default: .system(operation: "\(operation)", code: code)
        }
    }

    /// The system's code for a full disk.
    package static let noSpaceCode = ENOSPC
    /// LMDB's code for a write that was cut short.
    static let shortWriteCode = EIO
}
