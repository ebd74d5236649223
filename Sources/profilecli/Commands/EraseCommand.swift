internal import ArgumentParser
internal import ProfileLog

struct EraseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "erase", "Erase a person and all their values from the log, for ever.",
        """
        Events of the user, and of all users who were merged into them, lose their content; their places stay. IDs, \
        addresses, waiting items, snapshots and names that no other user has go with them. It cannot be undone.

        First it says who would be erased. On a terminal it asks; elsewhere it needs --yes. If several users have an \
        address, it lists them, and erases one of them, or with --all all of them. It never erases another user than \
        the one that it showed.

        Old copies may be in free parts of the file until `profilecli compact`, and in backups for as long as you keep \
        those. In a cluster each node is stopped for it, one after the other, and the brokers have copies of their own \
        (docs/scaling.md).
        """,
        examples: """
            profilecli erase jane --reason "request 4711" --yes
            profilecli erase email:jane@example.com --reason "request 4711"
            profilecli erase email:jane@example.com --all --reason "request 4711" --yes
            profilecli erase braze:1f2e3d4c0000000000000007 --reason "test data" --yes
            """)

    @Argument(help: .user) var user: String
    @OptionGroup var reason: ReasonOptions
    @Flag(help: "Do it without a question.") var yes = false
    @Flag(help: "All who have the address, if there are several.") var all = false
    @OptionGroup var place: PlaceOptions

    func run() async throws {
        let connection = try place.connect()
        let candidates = try await connection.get("/v1/erase", [("user", user)]).objects("users")
        let users = try chosen(candidates)
        for (index, user) in users.enumerated() {
            // By its own ID, and only if that still leads to the same user.
            let (answer, node) = try await connection.postToNode("/v1/erase") { json in
                json.member("user", Self.id(user))
                json.member("number", user.count("number"))
                reason.write(to: &json)
            }
            let step =
                node == nil
                ? Suggestion.next("compact") : "Next: on each node, stopped: profilecli compact --store FOLDER"
            let next = index == users.count - 1 ? " " + step : ""
            try Output.answer(place.isJSON ? answer.line : Self.sentence(answer) + next, to: answer)
        }
    }

    private static func id(_ user: JSONObject) -> String { "braze:\(user["braze_id"].cell)" }

    private static func sentence(_ answer: JSONObject) -> String {
        "Erased \(Number.counted(answer.count("events"), "event")) of user \(answer["user_number"].cell) "
            + "at position \(answer["position"].cell); free pages of the file may still hold copies."
    }

    // MARK: - Who it is about

    /// Returns the `candidates` to erase. They are shown before; an uncertain user is asked for, or refused.
    private func chosen(_ candidates: [JSONObject]) throws -> [JSONObject] {
        let isOne = candidates.count == 1 || all
        if isOne, yes {
            if candidates.count > 1 || user.hasPrefix("email:") || user.hasPrefix("phone:") { show(candidates) }
            return candidates
        }
        show(candidates)
        guard Question.canBeAsked else { throw isOne ? unconfirmed : several(candidates) }
        if !isOne {
            Output.message("Erase which? Type the # of one, or `all`; nothing erases no user.")
            let answer = Question.answer()
            let one = Int(answer).flatMap { candidates.indices.contains($0 - 1) ? [candidates[$0 - 1]] : nil }
            guard let users = answer == "all" ? candidates : one else { throw nothingErased }
            if yes { return users }
            return try confirmed(users)
        }
        return try confirmed(candidates)
    }

    private func confirmed(_ users: [JSONObject]) throws -> [JSONObject] {
        let what = users.count == 1 ? users[0]["id"].cell.oneLine : "\(users.count) users"
        Output.message("Erase \(what) for ever? Type `yes`.")
        guard Question.answer() == "yes" else { throw nothingErased }
        return users
    }

    /// Users that a list shows, and commands that a refusal spells out.
    private static let mostShown = 20

    private func show(_ users: [JSONObject]) {
        let shown = Array(zip(1..., users.prefix(Self.mostShown)))
        let table = Table("##", "USER", "KIND", "SINCE", "#EVENTS", "BRAZE_ID!", of: shown) { number, user in
            [
                "\(number)", user["id"].cell, user["kind"].cell, user["since"].cell, user["version"].cell,
                user["braze_id"].cell,
            ]
        }
        let lines = table.lines(width: Terminal.errorWidth, isStyled: Terminal.hasErrorColours)
        lines.forEach(Output.message)
        if users.count > Self.mostShown { Output.message("… and \(users.count - Self.mostShown) more.") }
    }

    // MARK: - Refusals

    private var nothingErased: CommandError {
        CommandError("Nothing was erased.", remedy: "Run the command again to erase a user.", status: .usage)
    }

    private var unconfirmed: CommandError {
        CommandError("Nothing was erased: it cannot be undone.", remedy: "Add --yes to do it.", status: .usage)
    }

    private func several(_ users: [JSONObject]) -> CommandError {
        let reason = Shell.option("--reason", reason.reason)
        let commands = users.prefix(Self.mostShown).map { "`profilecli erase \(Self.id($0)) \(reason) --yes`" }
        return CommandError(
            "Nothing was erased: \(users.count) users have this address.",
            remedy: "Erase one of them with \(commands.joined(separator: " or ")), or all with "
                + "`profilecli erase \(Shell.user(user)) --all \(reason) --yes`.",
            status: .usage)
    }
}
