import Foundation
import ProfileLog
import Testing

@Suite("profilecli sends")
struct SendsTests {
    private let cli: CLI

    init() throws {
        cli = try CLI()
        let log = try EventLog(path: cli.store, create: true)
        let context = EventContext(source: .rest)
        for user in ["ana", "ben"] {
            let id = UserID.externalID(user)
            _ = try log.append([.customEventLogged(CustomEvent(name: "x"))], to: id, context: context)
            let content: [AttributeValue.Member] = [.init("payload", .object([.init("aps", .object([]))]))]
            _ = try log.append(
                [
                    .message(MessageStep(.sent, of: "spring", by: .applePush, dispatch: "d-1", content: content)),
                    .message(MessageStep(.notSent, of: "autumn", by: .email, reason: "unsubscribed", dispatch: "d-2")),
                ], to: id, context: context)
        }
    }

    @Test("Sends of all users or of one, and of one campaign")
    func sends() throws {
        let all = try cli.succeed("sends", "--format", "json").lines
        #expect(all.count == 4)
        #expect(all.allSatisfy { $0.contains(#""kind":"messageSent""#) || $0.contains(#""kind":"messageNotSent""#) })
        let own = try cli.succeed("sends", "ben", "--format", "json").lines
        #expect(own.count == 2)
        #expect(own.allSatisfy { $0.contains(#""user":"ben""#) }, "\(own)")
        let one = try cli.succeed("sends", "ben", "--message", "autumn", "--format", "json").lines
        #expect(one.count == 1)
        #expect(one.first?.contains(#""reason":"unsubscribed""#) == true, "\(one)")
        let table = try cli.succeed("sends", "ben").output
        #expect(table.contains("spring") && table.contains("unsubscribed"), "\(table)")
    }

    @Test("--due sends what was scheduled, with the campaigns of the workspace file, once")
    func due() throws {
        let campaigns = """
            campaigns: [{id: late, name: Late, messages: [{webhook: {url: "/{{${user_id}}}"}}]}]
            """
        let file = try cli.write(campaigns, as: "workspace.yaml")
        let scenario = try cli.write(
            """
            start: 2020-01-01T00:00:00Z
            workspace: workspace.yaml
            steps:
              - log-event: {user: ana, name: x}
              - request:
                  path: /campaigns/trigger/schedule/create
                  body:
                    campaign_id: late
                    recipients: [{external_user_id: ana}]
                    schedule: {time: "2020-01-02T00:00:00Z"}
                  status: 201
              - expect-sends: {user: ana, sends: []}
            """, as: "scenario.yaml")
        let store = cli.folder.appending(path: "late").path
        try cli.succeed("scenario", "run", scenario, "--store", store)
        for count in ["1 scheduled request.", "0 scheduled requests."] {
            let outcome = try cli.succeed(
                "sends", "ana", "--due", "--workspace", file, "--store", store, "--format", "json")
            #expect(outcome.lines.count == 1, "\(outcome.output)")
            #expect(outcome.output.contains(#""url":"/ana""#), "\(outcome.output)")
            #expect(outcome.errors.contains("Sent \(count)"), "\(outcome.errors)")
        }
        #expect(try cli.run("sends", "--workspace", file).status == 64)
        #expect(try cli.run("sends", "--due", "--url", "http://127.0.0.1:1").status == 64)
    }

    @Test("No send is said so, and an unknown user is an error")
    func none() throws {
        let outcome = try cli.succeed("sends", "--message", "winter")
        #expect(outcome.output.isEmpty)
        #expect(outcome.errors.contains("never seen the campaign, canvas or message winter."))
        #expect(try cli.run("sends", "nobody").status == 1)
    }
}
