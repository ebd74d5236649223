internal import CLMDB
internal import Glibc

/// The use of the pages of a store's file, and the reads that keep old ones from being used again.
package struct PageUse: Hashable, Sendable {
    /// Bytes of a page.
    package var pageBytes = 0
    /// Pages of the file that hold something, free ones included.
    package var pages: UInt64 = 0
    /// Pages that the next commits may use. Those that an old reader may still read are among them.
    package var freePages: UInt64 = 0
    /// Tells whether there are more free pages: the list of them was too long to count to its end.
    package var hasMoreFreePages = false
    /// The newest commit.
    package var commit: UInt64 = 0
    /// The reads that are under way in all processes, the oldest first; without this one.
    package var readers: [Reader] = []

    /// A read that is under way.
    package struct Reader: Hashable, Sendable {
        /// The process that reads.
        package var process: Int32
        /// The thread that began it, as LMDB writes it: with the process and the commit it names a read.
        package var thread: String
        /// The commit whose state it sees: pages that were in use then stay as they are.
        package var commit: UInt64
    }

    /// Commits since the one that the oldest reader sees; 0 without a reader.
    package var oldestReaderCommits: UInt64 { readers.first.map { commit - min($0.commit, commit) } ?? 0 }
    /// Bytes of the free pages.
    package var freeBytes: UInt64 { freePages * UInt64(pageBytes) }

    /// Rows of the list of free pages that are counted: usually there are a few. A reader that stays adds one for each
    /// commit.
    package static let mostRows = 16_384
}

extension Environment {
    /// Looks at pages and readers (`mdb_env_info`, `mdb_reader_list`, the list of free pages). Reads at most
    /// ``PageUse/mostRows`` rows, whatever the size of the store.
    package func pageUse() throws -> PageUse {
        try withReadTransaction { transaction in
            let environment = mdb_txn_env(transaction.handle)
            var (use, stat, info) = (PageUse(), MDB_stat(), MDB_envinfo())
            try StorageError.check(mdb_env_stat(environment, &stat), "statistics")
            try StorageError.check(mdb_env_info(environment, &info), "statistics")
            use.pageBytes = Int(stat.ms_psize)
            use.pages = UInt64(UInt(bitPattern: info.me_last_pgno)) &+ 1
            use.commit = UInt64(transaction.commit)
            var rows = 0
            try transaction.withCursor(Table.freePages) { cursor in
                var row = try cursor.first()
                while let found = row {
                    if rows == PageUse.mostRows {
                        use.hasMoreFreePages = true
                        break
                    }
                    rows += 1
                    // A list of page numbers, which begins with their count.
                    if found.value.count >= 8 { use.freePages &+= found.value.loadUnaligned(as: UInt64.self) }
                    row = try cursor.next()
                }
            }
            // A damaged list may count anything.
            use.freePages = min(use.freePages, use.pages)
            use.readers = Self.readers(environment)
            if let own = use.readers.firstIndex(where: { $0.commit == use.commit && $0.process == getpid() }) {
                use.readers.remove(at: own)
            }
            return use
        }
    }

    /// The reads that have a view now, the oldest first.
    private static func readers(_ environment: OpaquePointer?) -> [PageUse.Reader] {
        var text = ""
        withUnsafeMutablePointer(to: &text) { text in
            _ = mdb_reader_list(
                environment,
                { line, text in
                    guard let line, let text else { return -1 }
                    text.assumingMemoryBound(to: String.self).pointee += String(cString: line)
                    return 0
                }, text)
        }
        // A heading; then in each line process, thread and commit, which is `-` where nothing is read.
        return text.split(separator: "\n").compactMap { line -> PageUse.Reader? in
            let words = line.split(separator: " ")
            guard words.count == 3, let process = Int32(words[0]), let commit = UInt64(words[2]) else { return nil }
            return PageUse.Reader(process: process, thread: String(words[1]), commit: commit)
        }.sorted { ($0.commit, $0.process) < ($1.commit, $1.process) }
    }
}
