internal import ArgumentParser
internal import ProfileLog

struct EraseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "erase", "Erase a person and all their values from the log, for ever.",
        """
        Events of the user, and of all users who were merged into them, lose their content; their places stay. IDs, \
        addresses, waiting items, snapshots and names that no other user has go with them. It cannot be undone.

        Old copies may be in free parts of the file until `profilecli compact`, and in backups for as long as you keep \
        those.
        """,
        examples: """
            profilecli erase jane --reason "request 4711" --yes
            profilecli erase braze:1f2e3d4c0000000000000007 --reason "test data" --yes
            """)

    @Argument(help: .user) var user: String
    @OptionGroup var reason: ReasonOptions
    @Flag(help: "Do it: without this flag nothing is changed.") var yes = false
    @OptionGroup var place: PlaceOptions

    func run() async throws {
        guard yes else {
            throw Failure("Nothing was erased: it cannot be undone.", remedy: "Add --yes to do it.", status: .usage)
        }
        try await place.send("/v1/erase") { json in
            json.member("user", user)
            reason.write(to: &json)
        } describe: { answer in
            "Erased \(Number.counted(answer.count("events"), "event")) of user \(answer["user_number"].cell) "
                + "at position \(answer["position"].cell); free pages of the file may still hold copies. "
                + Suggestion.next("compact")
        }
    }
}
