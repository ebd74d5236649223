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

    @Test("No send is said so, and an unknown user is an error")
    func none() throws {
        let outcome = try cli.succeed("sends", "--message", "winter")
        #expect(outcome.output.isEmpty)
        #expect(outcome.errors.contains("No message was sent."))
        #expect(try cli.run("sends", "nobody").status == 1)
    }
}
