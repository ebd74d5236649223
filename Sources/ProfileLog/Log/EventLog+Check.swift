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
