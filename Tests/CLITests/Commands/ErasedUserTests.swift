import Foundation
import Testing

@Suite("What is shown of an erased user")
struct ErasedUserTests {
    @Test("The list marks them, and their tombstones are found by braze_id")
    func shown() throws {
        let cli = try CLI()
        try cli.succeed("log", "event", "jane", "a")
        try cli.succeed("log", "event", "bo", "b")
        try cli.succeed("erase", "jane", "--reason", "asked to", "--yes")
        let users = try cli.succeed("users", "--format", "json").lines
        #expect(users.map { $0.contains(#""erased":true"#) } == [true, false])
        let braze = try #require(users[0].components(separatedBy: #""braze_id":""#).last?.prefix(24))
        #expect(users[0].contains(#""id":"braze:\#(braze)""#) && users[0].contains(#""ids":[]"#))
        #expect(try cli.succeed("users").lines.count { $0.contains("erased") } == 1)
        let history = try cli.succeed("history", "braze:\(braze)", "--format", "json").lines
        #expect(history.map { $0.contains(#""erased":true"#) } == [true, true, false])
        #expect(history[2].contains(#""kind":"userErased""#) && history[2].contains("asked to"))
        #expect(!history.joined().contains("jane") && !history.joined().contains(#""key""#))
        #expect(try cli.run("history", "jane").status == 1)
        #expect(try cli.run("profile", "braze:\(braze)").status == 1)
    }
}
