extension EventLog {
    /// Proves that the store holds together: each record's checksum and content, gapless order and versions, each index against the log,
    /// names, identifiers, and each snapshot and each state over the whole store against a fresh fold; of projections that the log was
    /// opened without, the checksums.
    ///
    /// Goes on behind what is damaged, so that one run names all of it. Reads only. Memory grows with users and pending items.
    public func check(progress: (LogProgress) -> Void = { _ in }) throws -> CheckReport {
        while true {
            let erasures = try withView(whateverIsDamaged: true) { _, _ in names.erasures }
            var checker = LogChecker(log: self)
            try checker.run(progress)
            // Who erases meanwhile takes names away that the checker's transaction still has.
            if checker.report.isSound || names.erasures == erasures { return checker.report }
        }
    }
}

extension EventLog {
    /// Reads every row of every table of the store in the folder `path`, and LMDB's list of free pages, and tells before each table, and
    /// every few rows, how far it came. Throws `brokenPage` if a table has more or fewer rows than LMDB put there, or not in order.
    ///
    /// For a process that a broken page may end (`BrokenPage`): what was told last says where the page is. In table `log` positions are told.
    package static func readThrough(path: String, telling progress: (LogProgress) -> Void) throws {
        let environment = try Environment.open(path: path, missing: .refuse)
        try environment.withReadTransaction { transaction in
            for name in Table.Name.allCases {
                try readThrough(environment.tables[name], name.rawValue, transaction, progress) { $0.order(to: $1) < 0 }
            }
            // Each commit takes from it.
            try readThrough(.freePages, "free pages", transaction, progress) { $0.native64 < $1.native64 }
        }
    }

    /// A broken page seldom ends a walk: LMDB takes whatever its bytes say for rows, and goes on behind it.
    private static func readThrough(
        _ table: Table, _ stage: String, _ transaction: borrowing ReadTransaction, _ progress: (LogProgress) -> Void,
        isAscending: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Bool
    ) throws {
        func tell(_ done: UInt64) { progress(LogProgress(stage: stage, done: done, total: 0, unit: "rows")) }
        var rows: UInt64 = 0
        var isInOrder = true
        var previous: UnsafeRawBufferPointer?
        /// In table `log`, the position behind which another one stands than the next.
        var gap: UInt64?
        tell(0)
        try transaction.withCursor(table) { cursor in
            var row = try cursor.first()
            while isInOrder, let found = row {
                if let previous { isInOrder = isAscending(previous, found.key) }
                previous = found.key
                rows += 1
                if gap == nil, stage == Table.Name.log.rawValue, found.key.number != rows { gap = rows - 1 }
                if gap == nil, rows % 128 == 0 { tell(rows) }
                row = try cursor.next()
            }
        }
        if isInOrder, rows == (try UInt64(transaction.count(table))) { return }
        if let gap { tell(gap) }
        throw StorageError.brokenPage(operation: "scan")
    }
}

extension UnsafeRawBufferPointer {
    /// The number for which a key of LMDB's own list stands, in the machine's order; 0 if it is none.
    fileprivate var native64: UInt64 { count == 8 ? loadUnaligned(as: UInt64.self) : 0 }
}

/// What `check` found.
public struct CheckReport: Hashable, Sendable {
    /// Events read.
    package internal(set) var events: UInt64 = 0
    /// Users who have any.
    package internal(set) var users = 0
    /// Names read.
    package internal(set) var names = 0
    /// Snapshots compared with a fresh fold.
    package internal(set) var snapshots = 0
    /// What is wrong, the first thousand places.
    package internal(set) var problems: [CheckProblem] = []

    /// Whether nothing is wrong.
    public var isSound: Bool { problems.isEmpty }

    mutating func add(_ place: String, _ what: String) {
        if problems.count < 1000 { problems.append(CheckProblem(place: place, what: what)) }
    }
}

/// One thing that is wrong in a store, and where.
package struct CheckProblem: Hashable, Sendable, CustomStringConvertible {
    /// Table and row, or position.
    package var place: String
    /// What is wrong there.
    package var what: String

    /// Both in one line.
    package var description: String { "\(place): \(what)" }
}
