internal import ArgumentParser
internal import ProfileLog

/// `profilecli erase`
struct EraseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "erase", abstract: "Take a person out of the log, with every value of theirs, for ever.",
        discussion: """
            Events of the user, and of everybody who was merged into them, lose their content; their places stay. IDs, addresses, \
            waiting items, snapshots and names that nobody else uses go with them. It cannot be undone.

            Old copies may stand in free parts of the file until `profilecli compact`, and in backups for as long as those are kept.

            EXAMPLES
              profilecli erase jane --reason "request 4711" --yes
              profilecli erase braze:1f2e3d4c0000000000000007 --reason "test data" --yes
            """)

    @Argument(help: "Whom: USER, as in `profilecli --help`.")
    var user: String

    @Option(name: .long, help: "Why; stands in the log for ever, so name nobody.")
    var reason: String

    @Option(name: .long, help: ArgumentHelp("Who erases; your user name unless given.", valueName: "name"))
    var by: String?

    @Flag(name: .long, help: "Do it: without this flag nothing is changed.")
    var yes = false

    @OptionGroup var place: PlaceOptions

    mutating func validate() throws {
        guard !reason.isEmpty else { throw ValidationError("--reason must not be empty.") }
    }

    func run() async throws {
        guard yes else {
            throw Failure(
                "Nothing was erased: it cannot be undone.", remedy: "Add --yes to do it.", status: .usage)
        }
        let answer = try await place.connect().post("/v1/erase") { json in
            json.member("user", user)
            json.member("reason", reason)
            json.member("actor", by ?? Terminal.environment("USER") ?? "profilecli")
        }
        if place.isJSON { return try Output.answer(answer.line, to: answer) }
        let events = UInt64(max(0, answer["events"].integer ?? 0))
        try Output.answer(
            "Erased \(Number.counted(events, "event")) of user \(answer["user_number"].cell) at position "
                + "\(answer["position"].cell); free pages of the file may still hold copies. \(Suggestion.next("compact"))",
            to: answer)
    }
}
