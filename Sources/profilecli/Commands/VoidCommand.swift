internal import ArgumentParser
internal import ProfileLog

enum VoidCommand: VoidAction {
    static let (path, done) = ("/v1/void", "Voided")
    static let configuration = CommandConfiguration(
        "void", "Make an event void: from now on it counts in no profile.",
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
}

enum UnvoidCommand: VoidAction {
    static let (path, done) = ("/v1/unvoid", "Unvoided")
    static let configuration = CommandConfiguration(
        "unvoid", "Let a void event count again.",
        examples: """
            profilecli void 12 --reason "a test purchase"
            profilecli unvoid 12 --reason "it was real"
            """)
}

/// A statement about an event: that it counts, or not.
protocol VoidAction {
    static var configuration: CommandConfiguration { get }
    static var path: String { get }
    /// The action, as the first word of the answer.
    static var done: String { get }
}

/// A command that says whether an event counts.
struct VoidingCommand<Action: VoidAction>: AsyncParsableCommand {
    static var configuration: CommandConfiguration { Action.configuration }

    @Argument(help: "The event's position, as `profilecli history` shows it.") var position: Int64
    @Option(help: "Makes the same command, run again, change nothing.") var key: String?
    @OptionGroup var reason: ReasonOptions
    @OptionGroup var place: PlaceOptions

    func run() async throws {
        try await place.send(Action.path) { json in
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
            return "\(again)\(Action.done) position \(position) (\(what)) at \(Phrase.spot(answer)); \(effect). "
                + Suggestion.next(Suggestion.profile(of: answer.object("user")))
        }
    }
}
