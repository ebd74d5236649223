import ProfileLog
import TestSupport
import Testing

/// The same short script of commits, with the Nth write or sync call on the data file failing or being the process's
/// last, for every N: from the creation of the store through appends, launches and an index flush. The short form takes
/// every fourteenth N, and each of the seven kinds of fault begins at another one.
@Suite("A fault at any write or sync loses nothing and claims nothing false")
struct FaultTests {
    enum Fault: String, CaseIterable, CustomTestStringConvertible {
        case kill, torn, eio, short, enospc
        case allEIO = "eio-from"
        case allENOSPC = "enospc-from"

        var testDescription: String { rawValue }
        var endsProcess: Bool { self == .kill || self == .torn }
    }

    @Test("A fault at every write and sync call loses nothing and claims nothing false", arguments: Fault.allCases)
    func everyCall(fault: Fault) async throws {
        let report = try await onOwnThread { try FaultRun(fault).run() }
        for problem in report.problems.prefix(40) { Issue.record("\(problem)") }
        #expect(report.problems.count == 0)
        // The script makes at least so many calls, or it tests too little.
        #expect(report.calls >= 60)
        if fault == .enospc { expect(hits(.diskFull), in: report.marks) }
        // Each fault but the kills must have been felt by an append, and by what came after it.
        #expect(report.felt > Thoroughness.count(short: 1, full: 20))
    }

    @Test(
        "A creation that was cut after so many bytes is done again",
        arguments: [0, 1, 16, 19, 48, 96, 152, 4_095, 4_096, 4_120, 4_248, 8_191])
    func cutCreation(bytes: Int) async throws {
        let problems = try await onOwnThread { try FaultRun(.short).cutCreation(bytes) }
        #expect(problems == [])
    }
}

/// One kind of fault at each call in turn.
private struct FaultRun {
    private static let seed: UInt64 = 11

    struct Report: Sendable {
        var problems: [String] = []
        var calls = 0
        /// Runs in which the fault was reached.
        var felt = 0
        var marks: Set<CoverageMark> = []
    }

    private let fault: FaultTests.Fault
    private let shim: Shim
    private let scratch: TemporaryFolder

    init(_ fault: FaultTests.Fault) throws {
        self.fault = fault
        shim = try Shim.faults()
        scratch = try TemporaryFolder.made(prefix: "crash")
    }

    func run() throws -> Report {
        var report = Report()
        // Which calls a run without a fault makes, and how many of them before the store is open.
        _ = try child("sound", shim.environment(["FAULT": "count", "FAULT_COUNT": scratch("calls")]))
        report.calls = scratch.lines("calls").count
        let opening = try Self.callsOfOpening.get()
        let first = Thoroughness.count(short: 2 * (FaultTests.Fault.allCases.firstIndex(of: fault) ?? 0), full: 0)
        for call in stride(from: first + 1, through: report.calls, by: Thoroughness.count(short: 14, full: 1)) {
            let store = "store-\(call)"
            do {
                let problems = try runOne(call, store, isOpening: call <= opening, &report)
                report.problems += problems.map { "\(fault.rawValue):\(call): \($0)" }
            } catch {
                report.problems.append("\(fault.rawValue):\(call): \(error)")
            }
        }
        return report
    }

    func cutCreation(_ bytes: Int) throws -> [String] {
        let (end, first) = try child("store", shim.environment(["FAULT": "cut:\(bytes)"]))
        if end != 3 || first.wasOpened || scratch.bytes("store/data.mdb") != bytes {
            return ["the child ended as \(end) and left \(scratch.bytes("store/data.mdb")) bytes"]
        }
        return try reopened("store", first: nil)
    }

    private func runOne(_ call: Int, _ store: String, isOpening: Bool, _ report: inout Report) throws -> [String] {
        let (end, first) = try child(store, shim.environment(["FAULT": "\(fault.rawValue):\(call)"]))
        report.marks.formUnion(first.marks)
        var problems: [String] = []
        if fault.endsProcess {
            if end != -9 { return ["the child ended as \(end)"] }
            report.felt += 1
        } else if isOpening, !first.wasOpened {
            // Creating or opening failed and said so.
            if end != 3 { problems.append("the child ended as \(end) when it opened the store") }
            report.felt += 1
        } else {
            if !first.hasEnded { problems.append("the child ended as \(end): \(first.complaints)") }
            problems += honesty(first)
            let told = first.acknowledged.map { $0.first + UInt64($0.places.count) - 1 }.max() ?? 0
            if first.lastRead ?? 0 < told { problems.append("read to \(first.lastRead ?? 0), acknowledged to \(told)") }
            if !first.unknown.isEmpty || !first.refused.isEmpty { report.felt += 1 }
        }
        if isOpening, !first.wasOpened {
            // Nothing was acknowledged, and the next start must work: an unfinished creation is redone.
            return try problems + reopened(store, first: nil)
        }
        return try problems + reopened(store, first: first)
    }

    /// Checks that after an unknown outcome nothing more is acknowledged, and that every refusal says why.
    private func honesty(_ answers: Answers) -> [String] {
        var problems: [String] = []
        for refusal in answers.refused where !["closedAfterFailure", "diskFull"].contains(refusal.reason) {
            problems.append("\(refusal.name) was refused for \(refusal.reason)")
        }
        let failed = answers.order.firstIndex(of: .unknown)
        if let failed {
            let after = answers.order[failed...].drop { $0 == .unknown }
            if after.contains(where: { $0 != .closed }) {
                problems.append("something was taken after an unknown outcome")
            }
        }
        if fault == .eio || fault == .short || fault == .allEIO,
            answers.refused.contains(where: { $0.reason == "diskFull" })
        {
            problems.append("a failing disk was called full")
        }
        return problems
    }

    /// Opens what the faulty run left, tests it whole, and runs the script again, without a fault: all of it must be
    /// there now, once.
    private func reopened(_ store: String, first: Answers?) throws -> [String] {
        var problems: [String] = []
        var stored: Set<String> = []
        if let first {
            let audit = try StoreAudit(EventLog(path: scratch(store)))
            stored = Set(audit.appends.keys)
            problems += audit.problems + complaintsAside(first).problems(in: audit)
        }
        let (end, second) = try child(store, [:])
        if end != 0 { problems.append("the second run ended as \(end): \(second.complaints)") }
        let audit = try StoreAudit(EventLog(path: scratch(store)))
        problems += (audit.problems + second.problems(in: audit)).map { "second run: \($0)" }
        let earlier = Dictionary((first?.acknowledged ?? []).map { ($0.name, $0) }) { first, _ in first }
        for answer in second.acknowledged {
            if answer.isRepetition != stored.contains(answer.name) {
                problems.append("the retry of \(answer.name) did not see whether it was stored")
            }
            if let before = earlier[answer.name], before.first != answer.first || before.places != answer.places {
                problems.append("the retry of \(answer.name) answered otherwise than the first time")
            }
        }
        if Set(second.acknowledged.map(\.name)).count != 12 {
            problems.append("the second run stored not all of its appends")
        }
        return problems
    }

    /// A failed index flush is said, and is no complaint: the caches may lag.
    private func complaintsAside(_ answers: Answers) -> Answers {
        var answers = answers
        answers.forgiveComplaints { $0.hasPrefix("index ") }
        return answers
    }

    private func child(_ store: String, _ environment: [String: String]) throws -> (Int32, Answers) {
        let said = "\(store).said-\(environment.isEmpty ? 2 : 1)"
        let child = try CrashChild(
            ["script", scratch(store), "\(Self.seed)"], environment: environment, outputFile: scratch(said))
        let end = child.waitForEnd()
        return (end, Answers(scratch.lines(said)))
    }

    /// The number of calls before the store is open.
    private static let callsOfOpening = Result {
        let run = try FaultRun(.kill)
        let opened = try (1...20).first { call in
            try run.child("opening-\(call)", run.shim.environment(["FAULT": "kill:\(call)"])).1.wasOpened
        }
        return (opened ?? 21) - 1
    }
}
