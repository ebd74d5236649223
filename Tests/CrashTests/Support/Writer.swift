import Glibc
import ProfileLog

/// A process that makes one append for each line of its input.
final class Writer {
    private let child: CrashChild
    private var answers = Answers([])
    private var opening: String?
    private var requests = 0

    /// A writer on `store`. With `script`, a shell runs that first, in a name space of mounts if it is to mount.
    init(
        _ store: String, _ number: UInt64, after script: String? = nil, mounts: Bool = false, waits: Bool = true
    ) throws {
        signal(SIGPIPE, SIG_IGN)
        let space = mounts ? ["/usr/bin/unshare", "-m"] : []
        let shell = script.map { space + ["/bin/sh", "-c", $0 + " && exec \"$0\" \"$@\""] }
        child = try CrashChild(["turns", store, "16", "\(number)"], command: shell ?? [])
        if waits { awaitOpening() }
    }

    /// Waits until the process has opened the store, or was refused.
    func awaitOpening() {
        if opening != nil { return }
        opening = child.readLine()
        if let opening, opening.hasPrefix("open ") { answers.add(opening) }
    }

    var count: Int { answers.acknowledged.count }

    /// Asks for one append.
    func request() {
        guard answers.wasOpened else { return }
        child.send("")
        requests += 1
    }

    /// Asks for one append and waits for the answer.
    func append() {
        request()
        if answers.wasOpened, let line = child.readLine() { answers.add(line) }
    }

    /// Hears the rest of the answers, and ends the process.
    func end() -> Answers {
        child.endInput()
        while let line = child.readLine() { if answers.wasOpened { answers.add(line) } }
        child.waitForEnd()
        return answers
    }

    /// Ends the writers, and looks in `store` for all that they acknowledged.
    static func problems(_ store: String, _ writers: Writer...) throws -> [String] {
        try problems(store, of: writers)
    }

    /// As above.
    static func problems(_ store: String, of writers: [Writer]) throws -> [String] {
        let answers = writers.map { $0.end() }
        let audit = try StoreAudit(EventLog(path: store), launchesInTurn: false)
        return audit.problems + answers.flatMap { $0.problems(in: audit) }
    }

    /// Everything after the first `count` appends was refused, since the store's files were changed.
    func problems(stoppedAfter count: Int) -> [String] {
        var problems: [String] = []
        if self.count != count { problems.append("\(self.count) appends were acknowledged, not \(count)") }
        let reasons = Set(answers.refused.map(\.reason))
        if reasons != ["filesChanged"] { problems.append("refused for \(reasons)") }
        return problems
    }

    /// Tells whether the process opened the store.
    var isOpen: Bool { answers.wasOpened }

    /// The process was not let in, and said why.
    var problemsOfRefusedOpening: [String] { problemsOfOpening(refusedFor: "removed or replaced") }

    /// The process was not let in, and said a sentence with `words`.
    func problemsOfOpening(refusedFor words: String) -> [String] {
        let said = opening ?? "nothing"
        let isRefused = said.hasPrefix("failed ") && said.contains(words)
        return isRefused ? [] : ["opening answered \(said)"]
    }
}
