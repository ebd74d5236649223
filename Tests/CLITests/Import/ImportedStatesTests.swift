import Testing

@Suite("Imports of what reached users by an address")
struct ImportedStatesTests {
    @Test("Who got a subscription state by the address alone is not updated by its import either")
    func updatesNobody() throws {
        let cli = try CLI()
        func line(_ user: String, _ source: String, _ attributes: String) -> String {
            #"{"kind":"userAttributesChanged","user":"\#(user)","source":"\#(source)","#
                + #""user_attributes":{\#(attributes)}}"#
        }
        let mail = #""email":"x@y.example""#
        let groups = #""subscription_groups":[{"subscription_group_id":"g","subscription_state":"subscribed"}]"#
        let event = #"{"kind":"customEventLogged","user":"c","source":"system","name":"e"}"#
        let lines = [
            line("b", "rest", mail), line("a", "rest", mail), line("a", "rest", groups), line("b", "system", groups),
            event,
        ]
        _ = try cli.succeed("import", cli.write(lines.joined(separator: "\n"), as: "events.jsonl"))
        let profile = try cli.succeed("profile", "email:x@y.example", "--format", "json").output
        #expect(profile.contains(#""id":"a""#), "\(profile)")
        let exported = try cli.succeed("export").lines.filter { !$0.contains(#""userCreated""#) }
        #expect(exported.map { $0.contains(#""source":"system""#) } == [false, false, false, true, false])
        #expect(exported.count { $0.contains(#""source":"import""#) } == 4)
        #expect(try cli.succeed("check").output.hasPrefix("Sound"))
    }
}
