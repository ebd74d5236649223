internal import ArgumentParser
internal import ProfileLog

struct VoidCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "void", "Make an event void: profiles are from now on what they would be without it.",
        """
        The event stays in the log, and so does the void, with its reason. Only what was saved or logged can be void: \
        an event, attributes, a user attribute or a purchase. A profile as of an earlier position is what it was \
        believed to be then. A saved item that is void is flushed like others and changes nothing. `profilecli unvoid` \
        lets the event count again.
        """,
        examples: """
            profilecli void 12 --reason "a test purchase"
            profilecli void 12 --reason "a test purchase" --by ops --key ticket-4711
            profilecli history jane
            profilecli unvoid 12 --reason "it was real"
            """)

    @Argument(help: .eventPosition) var position: Int64
    @Option(help: .voidKey) var key: String?
    @OptionGroup var reason: ReasonOptions
    @OptionGroup var place: PlaceOptions

    func run() async throws {
        try await VoidChange(position: position, key: key, reason: reason).send("/v1/void", "Voided", place)
    }
}

struct UnvoidCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "unvoid", "Let a void event count again.",
        examples: """
            profilecli void 12 --reason "a test purchase"
            profilecli unvoid 12 --reason "it was real"
            """)

    @Argument(help: .eventPosition) var position: Int64
    @Option(help: .voidKey) var key: String?
    @OptionGroup var reason: ReasonOptions
    @OptionGroup var place: PlaceOptions

    func run() async throws {
        try await VoidChange(position: position, key: key, reason: reason).send("/v1/unvoid", "Unvoided", place)
    }
}

extension ArgumentHelp {
    fileprivate static let eventPosition: ArgumentHelp = "The event's position, as `profilecli history` shows it."
    fileprivate static let voidKey: ArgumentHelp = "Makes the same command, run again, change nothing."
}

/// Which event, and why.
private struct VoidChange {
    let position: Int64
    let key: String?
    let reason: ReasonOptions

    func send(_ path: String, _ done: String, _ place: PlaceOptions) async throws {
        try await place.send(path) { json in
            json.member("position", position)
            reason.write(to: &json)
            json.member("source", EventSource.cli.name)
            json.member("key", key)
        } describe: { answer in
            let names = answer["changed"].elements.map(\.cell)
            let effect =
                names.isEmpty ? "the profile does not change" : "it changes \(names.joined(separator: ", ").oneLine)"
            let again = answer.flag("repeated") ? "Already done, under the same key: " : ""
            let what = (EventKind(name: answer["kind"].text ?? "") ?? .unknown).words
            return "\(again)\(done) position \(position) (\(what)) at \(Phrase.spot(answer)); \(effect). "
                + Suggestion.next("profile \(Shell.user(answer.id("user") ?? ""))")
        }
    }
}
