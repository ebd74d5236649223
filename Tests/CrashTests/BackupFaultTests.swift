import Foundation
import ProfileLog
import ProfileLogBackup
import TestSupport
import Testing

/// `profilecli backup` with the Nth call that changes its folder failing, or being the program's last, for every N: a
/// first run, and one after an erasure. The short form takes every fourteenth N, and each kind of fault begins at
/// another one.
@Suite("A backup whose program dies or whose disk fails is that of the run before, or its own")
struct BackupFaultTests {
    enum Fault: String, CaseIterable, CustomTestStringConvertible {
        case kill, after, torn, short, eio, enospc
        case allEIO = "eio-from"
        case allENOSPC = "enospc-from"

        var testDescription: String { rawValue }
        var endsProcess: Bool { self == .kill || self == .after || self == .torn }
        var isFullDisk: Bool { self == .enospc || self == .allENOSPC }
    }

    @Test(
        "A fault at any call that changes a backup leaves one that restores, and the next run completes it",
        arguments: Fault.allCases)
    func everyCall(fault: Fault) async throws {
        let report = try await onOwnThread {
            var run = try BackupFaultRun(fault)
            return try run.everyCall()
        }
        for problem in report.problems.prefix(40) { Issue.record("\(problem)") }
        #expect(report.problems.count == 0)
        // Two runs make at least so many calls, or this tests too little.
        #expect(report.calls >= 50)
        #expect(fault == .short || report.felt > Thoroughness.count(short: 0, full: 20))
    }

    @Test(
        "A backup whose runs are killed one after the other restores each time, and the run that is not completes it",
        arguments: Thoroughness.seeds(short: 2, full: 40))
    func again(seed: UInt64) async throws {
        let problems = try await onOwnThread {
            var run = try BackupFaultRun(.kill)
            return try run.again(seed)
        }
        for problem in problems { Issue.record("seed \(seed): \(problem)") }
    }
}

/// One kind of fault at each call in turn.
private struct BackupFaultRun {
    private static let canary = "canary-4711"
    private static let ana = UserID.externalID("canary-4711")

    struct Report: Sendable {
        var problems: [String] = []
        var calls = 0
        /// Runs that ended by the fault.
        var felt = 0
    }

    private let fault: BackupFaultTests.Fault
    private let shim: Shim
    private let scratch: TemporaryFolder
    private let log: EventLog
    private let program: BackupProgram
    /// The digest of the store's rows at each end that it had.
    private var digests: [Position: String] = [:]

    /// A store with a person who is erased after the backup in `base` was made.
    init(_ fault: BackupFaultTests.Fault) throws {
        self.fault = fault
        shim = try Shim.faults()
        scratch = try TemporaryFolder.made(prefix: "crash")
        log = try scratch.open("store")
        program = BackupProgram(
            store: scratch("store"), backup: scratch("backup"), errors: scratch.file("errors"))
        try live()
        try write(200)
        _ = try BackupRun(log: log, target: BackupFolder(path: scratch("base"), store: log.path)).run()
        try Data(#"{"format":1,"keys":[]}"#.utf8).write(to: scratch.file("store/keys.json"))
        try write(3)
        try erase()
    }

    // MARK: - The store

    private mutating func live() throws {
        let event = CustomEvent(
            name: Name("\(Self.canary) event"), properties: [.init("p", .string(Self.canary))])
        _ = try log.append(
            [.customEventLogged(event)], to: Self.ana,
            context: EventContext(source: .rest, device: "\(Self.canary)-device"),
            idempotencyKey: "\(Self.canary)-\(digests.count)")
        try note()
    }

    private mutating func write(_ count: Int) throws {
        let event = ProfileEvent.customEventLogged(CustomEvent(name: "played"))
        _ = try log.append(
            Array(repeating: event, count: count), to: .externalID("bo"), context: EventContext(source: .rest))
        try note()
    }

    private mutating func erase() throws {
        _ = try log.erase([Self.ana], actor: "a test", reason: "asked to")
        try note()
    }

    private mutating func note() throws { digests[try log.lastPosition()] = try log.truthDigest() }

    // MARK: - Faults

    mutating func everyCall() throws -> Report {
        var report = Report()
        for isFirst in [true, false] {
            try place(isFirst)
            let counted = scratch("calls-\(isFirst)")
            _ = try program.run(environment("count", ["FAULT_COUNT": counted]))
            let calls = scratch.lines("calls-\(isFirst)").count
            report.calls += calls
            let number = BackupFaultTests.Fault.allCases.firstIndex(of: fault) ?? 0
            let first = Thoroughness.count(short: 1 + 2 * number, full: 1)
            for call in stride(from: first, through: calls, by: Thoroughness.count(short: 14, full: 1)) {
                let name = "\(isFirst ? "a first" : "a later") run, \(fault.rawValue):\(call)"
                do {
                    let problems = try runOne(call, isFirst, &report.felt)
                    report.problems += problems.map { "\(name): \($0)" }
                } catch {
                    report.problems.append("\(name): \(error)")
                }
            }
        }
        return report
    }

    /// Puts the folder of the backup into its place, as it is before the run.
    private func place(_ isFirst: Bool) throws {
        let files = FileManager.default
        if files.fileExists(atPath: program.backup) { try files.removeItem(atPath: program.backup) }
        if !isFirst { try files.copyItem(atPath: scratch("base"), toPath: program.backup) }
    }

    private func environment(_ fault: String, _ others: [String: String] = [:]) -> [String: String] {
        shim.environment(["FAULT": fault, "FAULT_PREFIX": program.backup].merging(others) { $1 })
    }

    private func runOne(_ call: Int, _ isFirst: Bool, _ felt: inout Int) throws -> [String] {
        try place(isFirst)
        let (before, files) = (try BackupFolder.manifest(in: program.backup), try program.contents())
        let (end, said) = try program.run(environment("\(fault.rawValue):\(call)"))
        var problems: [String] = []
        let isEnd = fault.endsProcess ? end == -SIGKILL : end == 0 || end == 1
        if !isEnd { problems.append("it ended as \(end): \(said)") }
        if end != 0 { felt += 1 }
        let now = try problemsOfKilled(before, &problems)
        // A program that lives says what is wrong, and leaves nothing, unless it may remove nothing.
        if end == 1, now == before, fault != .allEIO {
            if try program.contents() != files { problems.append("it left files or changed some") }
            if fault.isFullDisk, !said.contains("is full") { problems.append("it said \(said)") }
        }
        return try problems + complete()
    }

    /// Looks at the backup that a run left, and returns its manifest.
    private func problemsOfKilled(_ before: Manifest?, _ problems: inout [String]) throws -> Manifest? {
        guard let now = try BackupFolder.manifest(in: program.backup) else {
            if before != nil { problems.append("it has no manifest") }
            return nil
        }
        if now != before, now.position != (try log.lastPosition()) {
            problems.append("it ends at \(now.position.rawValue)")
        }
        problems += try problemsOfDrill(now)
        return now
    }

    private func problemsOfDrill(_ manifest: Manifest) throws -> [String] {
        let (problems, digest) = try program.drill(in: scratch("drill"))
        return digest == digests[manifest.position] ? problems : problems + ["what it restores was never stored"]
    }

    /// Runs the same command without a fault: the backup is that of the whole store, and nothing else is there.
    private func complete() throws -> [String] {
        let (end, said) = try program.run()
        if end != 0 { return ["the next run ended as \(end): \(said)"] }
        let manifest = try BackupReader(path: program.backup).manifest
        var problems = try problemsOfDrill(manifest).map { "the next run: \($0)" }
        if manifest.position != (try log.lastPosition()) { problems.append("the next run is not complete") }
        let contents = try program.contents()
        if Set(contents.keys) != Set(manifest.files.map(\.name) + [Manifest.fileName]) {
            problems.append("the next run left \(contents.keys.sorted())")
        }
        for (name, data) in contents where data.range(of: Data(Self.canary.utf8)) != nil {
            problems.append("\(name) holds an erased value")
        }
        return problems
    }

    // MARK: - Killed one after the other

    mutating func again(_ seed: UInt64) throws -> [String] {
        var random = SeededGenerator(seed: seed)
        var problems: [String] = []
        try place(seed % 2 == 0)
        for round in 0..<8 {
            switch random.next(below: 3) {
            case 0: try live()
            case 1: try write(1 + random.next(below: 5))
            default: break
            }
            let before = try BackupFolder.manifest(in: program.backup)
            let kind = ["kill", "after", "torn"][random.next(below: 3)]
            let (end, said) = try program.run(environment("\(kind):\(1 + random.next(below: 32))"))
            if end != 0, end != -SIGKILL { problems.append("round \(round) ended as \(end): \(said)") }
            var found: [String] = []
            _ = try problemsOfKilled(before, &found)
            problems += found.map { "round \(round): \($0)" }
            if try round == 4 && log.find(Self.ana) != nil { try erase() }
        }
        if try log.find(Self.ana) != nil { try erase() }
        return try problems + complete()
    }
}
