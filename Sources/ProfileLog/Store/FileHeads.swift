internal import Glibc
internal import Synchronization

/// The beginnings of a store's two files as all processes see them, through maps of their own: a look is no system
/// call.
///
/// Commit N writes meta page N % 2 of `data.mdb`. So at each moment the two pages are of commits N and N - 1. A program
/// that writes over the file begins there and does not know N: its pages are of other commits, and after the next
/// commit of LMDB the two no longer follow each other. They stay so: such a file gets no commits.
///
/// The mark in `lock.mdb` is of the first who opened it. If it changes while the store is open, another program opened
/// the store as if it were alone, and made LMDB's locks again: it does not see the locks of this one.
///
///     data.mdb    40  what the commit of a page says          144  its number, UInt64
///     lock.mdb    48  the newest commit, UInt64; it follows a mutex, which has 40 bytes on x86-64, 48 on ARM
///                696  the mark, UInt64, in a gap of LMDB's table of readers
final class FileHeads: @unchecked Sendable {
    // `@unchecked`: the maps are read-only, and numbers are read atomically.
    private let data, lock: UnsafeMutableRawPointer
    private let pageBytes: Int
    private let mark: UInt64
    private static let markOffset = 696

    /// The heads of open files, of which the data file has pages of `pageBytes`.
    init(data: Int32, lock: Int32, pageBytes: Int) throws(StorageError) {
        self.data = try Self.map(data, bytes: 2 * pageBytes)
        do throws(StorageError) {
            self.lock = try Self.map(lock, bytes: Self.lockBytes)
        } catch {
            munmap(self.data, 2 * pageBytes)
            throw error
        }
        self.pageBytes = pageBytes
        mark = Self.number(self.lock + Self.markOffset)
    }

    deinit {
        munmap(data, 2 * pageBytes)
        munmap(lock, Self.lockBytes)
    }

    private static var lockBytes: Int { Int(getpagesize()) }

    private static func map(_ file: Int32, bytes: Int) throws(StorageError) -> UnsafeMutableRawPointer {
        guard let map = mmap(nil, bytes, PROT_READ, MAP_SHARED, file, 0), map != MAP_FAILED else {
            throw .system(operation: "open", code: errno)
        }
        return map
    }

    /// Marks the lock file as of this opening, which is the first one. On a full disk the old mark stays.
    static func putMark(_ lock: Int32) {
        var mark = UInt64.random(in: 1 ... .max)
        _ = pwrite(lock, &mark, 8, off_t(markOffset))
    }

    private static func number(_ place: UnsafeMutableRawPointer) -> UInt64 {
        place.assumingMemoryBound(to: Atomic<UInt64>.self).pointee.load(ordering: .acquiring)
    }

    /// Tells whether another program made the locks again since the store was opened.
    var areLocksRemade: Bool { Self.number(lock + Self.markOffset) != mark }

    /// The newest commit by the lock file: LMDB's next transaction takes it from there.
    var commitOfLock: Int { Int(truncatingIfNeeded: Self.number(lock + 8 + MemoryLayout<pthread_mutex_t>.size)) }

    /// The numbers of the commits of both meta pages. Not of one moment, without the write lock.
    var commits: (Int, Int) {
        (
            Int(truncatingIfNeeded: Self.number(data + 144)),
            Int(truncatingIfNeeded: Self.number(data + pageBytes + 144))
        )
    }

    /// The newest commit of the data file; nil if its pages are not of two commits in a row.
    var newest: Int? {
        let (first, second) = commits
        return Self.areInOrder(first, second) ? max(first, second) : nil
    }

    /// Tells whether the pages are of commits that do not follow each other, also at a second look: without the write
    /// lock, commits may come between the looks at the two pages.
    var areMixed: Bool {
        for _ in 0..<1_000 {
            if newest != nil { return false }
            sched_yield()
        }
        return true
    }

    /// Tells whether the pages are of successive commits; both pages of a new file are of commit 0.
    private static func areInOrder(_ first: Int, _ second: Int) -> Bool {
        first &- second == 1 || second &- first == 1 || (first == 0 && second == 0)
    }

    // MARK: - Under the write lock

    /// The facts of both meta pages.
    struct Pages: Equatable {
        fileprivate let first, second: Page

        /// The newest commit; nil if the pages are not of two commits in a row.
        var newest: Int? {
            FileHeads.areInOrder(first.commit, second.commit) ? max(first.commit, second.commit) : nil
        }

        /// Tells whether the page of the newest commit is the same as in `known`, if that has it. The other page may
        /// have changed: LMDB takes back only the number of a commit that failed.
        func agree(with known: Pages) -> Bool {
            let newest = first.commit > second.commit ? first : second
            return [known.first, known.second].allSatisfy { $0.commit != newest.commit || $0 == newest }
        }

        /// Tells whether these are `before` and `commit`, which wrote over the older page.
        func are(_ before: Pages, and commit: Int) -> Bool {
            let (written, kept, keptBefore) =
                commit % 2 == 0 ? (first, second, before.second) : (second, first, before.first)
            return written.commit == commit && kept == keptBefore
        }
    }

    fileprivate struct Page: Equatable {
        let commit: Int
        /// A hash of roots, counts and the last page.
        let hash: UInt64
    }

    /// The two meta pages, while there is no commit.
    var pages: Pages { Pages(first: page(at: data), second: page(at: data + pageBytes)) }

    private func page(at place: UnsafeMutableRawPointer) -> Page {
        var hash: UInt64 = 0
        for offset in stride(from: 40, to: 144, by: 8) {
            hash = (hash ^ (place + offset).load(as: UInt64.self)) &* 0x9E37_79B9_7F4A_7C15
            hash ^= hash >> 32
        }
        return Page(commit: Int(truncatingIfNeeded: Self.number(place + 144)), hash: hash)
    }
}
