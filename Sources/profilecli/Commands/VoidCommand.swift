internal import ArgumentParser
internal import ProfileLog

struct VoidCommand: VoidingCommand {
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

    @Argument(help: .eventPosition) var position: Int64
    @Option(help: .voidKey) var key: String?
    @OptionGroup var reason: ReasonOptions
    @OptionGroup var place: PlaceOptions
}

struct UnvoidCommand: VoidingCommand {
    static let (path, done) = ("/v1/unvoid", "Unvoided")
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
}

extension ArgumentHelp {
    fileprivate static let eventPosition: ArgumentHelp = "The event's position, as `profilecli history` shows it."
    fileprivate static let voidKey: ArgumentHelp = "Makes the same command, run again, change nothing."
}

/// A command that says whether an event counts.
protocol VoidingCommand: AsyncParsableCommand {
    static var path: String { get }
    /// The action, as the first word of the answer.
    static var done: String { get }
    var position: Int64 { get }
    var key: String? { get }
    var reason: ReasonOptions { get }
    var place: PlaceOptions { get }
}

extension VoidingCommand {
    func run() async throws {
        try await place.send(Self.path) { json in
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
            return "\(again)\(Self.done) position \(position) (\(what)) at \(Phrase.spot(answer)); \(effect). "
                + Suggestion.next(Suggestion.profile(of: answer.object("user")))
        }
    }
}
