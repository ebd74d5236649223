internal import ArgumentParser
internal import Foundation
internal import ProfileLog
internal import ProfileLogBrazeAPI
internal import ProfileLogNativeAPI

struct SendsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "sends", "List messages that were sent, or not sent and why.",
        """
        With --due it first sends what was scheduled for a time that is over. A running `profiled` does this by \
        itself; a store without one needs the command, and --workspace for campaigns, canvases and segments.
        """,
        examples: """
            profilecli sends
            profilecli sends --due --workspace workspace.yaml
            profilecli sends jane
            profilecli sends jane --message spring --format json
            """)

    @Argument(help: .user) var user: String?
    @Option(help: "Of this campaign or canvas only.") var message: String?
    @Flag(help: "First send what was scheduled for a time that is over.") var due = false
    @Option(help: .init("The workspace file, for --due.", valueName: "file"), completion: .file())
    var workspace: String?
    @Option(parsing: .unconditional, help: .init("Begin after this position.", valueName: "position"))
    var after: UInt64?
    @OptionGroup var limit: LimitOption
    @OptionGroup var place: PlaceOptions

    mutating func validate() throws {
        if workspace != nil, !due { throw ValidationError("--workspace is for --due. Add --due, or omit it.") }
        if due { try place.refuseService() }
    }

    func run() async throws {
        if due { try await sendDue() }
        var pages = Pages.events(isJSON: place.isJSON, withUser: true)
        try await pages.print(
            "sends", of: "/v1/sends", by: place.connect(), parameters(("user", user), ("message", message)),
            from: parameters(("after", after)), limit, next: { [("after", $0["position"].cell)] })
    }

    private func sendDue() async throws {
        let known = try workspace.map { try Workspace(file: $0) } ?? Workspace()
        let sent = try await BrazeAPI(RequestStore(openStore(place.path)), known).sendDue()
        Output.message("Sent \(Number.counted(UInt64(sent), "scheduled request")).")
    }
}
