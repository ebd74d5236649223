extension EventLog {
    /// Proves that the store holds together: each record's checksum and content, gapless order and versions, each index against the log,
    /// names, identifiers, and each snapshot against a fresh fold.
    ///
    /// Goes on behind what is damaged, so that one run names all of it. Reads only. Memory grows with users and pending items.
    public func check(progress: (LogProgress) -> Void = { _ in }) throws -> CheckReport {
        var checker = LogChecker(log: self)
        try checker.run(progress)
        return checker.report
    }
}

extension EventLog {
    /// Reads every row of every table of the store in the folder `path`, and LMDB's list of free pages, whatever they hold, and tells
    /// before each table, and every few rows, how far it came.
    ///
    /// For a process that a broken page may end (`BrokenPage`): what was told last says where the page is. In table `log` positions are told.
    public static func readThrough(path: String, telling progress: (LogProgress) -> Void) throws {
        let environment = try Environment.open(path: path, missing: .refuse)
        defer { environment.leave() }
        try environment.withReadTransaction { transaction in
            for name in Table.Name.allCases {
                try readThrough(environment.tables[name], name.rawValue, transaction, progress)
            }
            // Each commit takes from it.
            try readThrough(.freePages, "free pages", transaction, progress)
        }
    }

    private static func readThrough(
        _ table: Table, _ stage: String, _ transaction: borrowing ReadTransaction, _ progress: (LogProgress) -> Void
    ) throws {
        var rows: UInt64 = 0
        progress(LogProgress(stage: stage, done: 0, total: 0, unit: "rows"))
        try transaction.withCursor(table) { cursor in
            var row = try cursor.first()
            while let found = row {
                rows += 1
                if rows % 128 == 0 {
                    let done = stage == Table.Name.log.rawValue ? found.key.number ?? rows : rows
                    progress(LogProgress(stage: stage, done: done, total: 0, unit: "rows"))
                }
                row = try cursor.next()
            }
        }
    }
}

/// What `check` found.
public struct CheckReport: Hashable, Sendable {
    /// Events read.
    public internal(set) var events: UInt64 = 0
    /// Users who have any.
    public internal(set) var users = 0
    /// Names read.
    public internal(set) var names = 0
    /// Snapshots compared with a fresh fold.
    public internal(set) var snapshots = 0
    /// What is wrong, the first thousand places.
    public internal(set) var problems: [CheckProblem] = []

    /// Whether nothing is wrong.
    public var isSound: Bool { problems.isEmpty }

    mutating func add(_ place: String, _ what: String) {
        if problems.count < 1000 { problems.append(CheckProblem(place: place, what: what)) }
    }
}

/// One thing that is wrong in a store, and where.
public struct CheckProblem: Hashable, Sendable, CustomStringConvertible {
    /// Table and row, or position.
    public var place: String
    /// What is wrong there.
    public var what: String

    /// Both in one line.
    public var description: String { "\(place): \(what)" }
}
