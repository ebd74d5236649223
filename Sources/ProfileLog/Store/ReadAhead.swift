internal import Synchronization

/// Reads the whole file into memory when a process looks so many rows up that this is cheaper.
///
/// LMDB's file is mapped without the system's read-ahead (`MDB_NORDAHEAD`): a look-up in a store that is not in memory
/// then reads a page, not megabytes. Of many look-ups in a row each waits for the disk, which could read the file from
/// its start to its end in less time. Scans are not counted: they ask for what comes next themselves.
package final class ReadAhead: Sendable {
    /// The file is read after one look-up for each so many rows: by then look-ups have waited for some part of the time
    /// that the whole file takes.
    private static let rowsPerLookUp: UInt64 = 2_048
    /// The fewest look-ups before the file is read: also in a small store, one profile and its history are read without
    /// the rest.
    private static let fewestLookUps: UInt64 = 256

    private let lookUps = Atomic<UInt64>(0)
    private let hasBegun = Atomic(false)
    private let begin: @Sendable () -> Void

    /// `begin` begins to read the file, and returns at once.
    package init(_ begin: @escaping @Sendable () -> Void) { self.begin = begin }

    /// Notes a look-up in a table of `count` rows. Threads may lose some of each other's: the number need not be exact.
    package func noteLookUp(of count: UInt64) {
        if hasBegun.load(ordering: .relaxed) { return }
        let seen = lookUps.load(ordering: .relaxed) + 1
        lookUps.store(seen, ordering: .relaxed)
        guard seen > max(Self.fewestLookUps, count / Self.rowsPerLookUp) else { return }
        if !hasBegun.exchange(true, ordering: .relaxed) { begin() }
    }
}
