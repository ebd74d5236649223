import Foundation
import Testing

@Suite("Errors speak of what was typed, not of the API's fields")
struct TypedErrorTests {
    private let cli: CLI

    init() throws {
        cli = try CLI(after: [
            ["log", "event", "jane", "a"], ["log", "user-attribute", "jane", "email", "jane@example.org"],
        ])
    }

    @Test("Options are named as options")
    func options() throws {
        let rows: [(arguments: [String], message: String)] = [
            (["profile", "jane", "--as-of", "999"], "--as-of is beyond the log's last position, 3."),
            (["history", "jane", "--from", "0"], "--from must be a whole number, 1 or more."),
            (["save", "event", "", "a"], "USER must have 1 to"),
            (["log", "purchase", "jane", "p", "--price", "1", "--currency", "EUR", "--quantity", "-2"], "--quantity"),
            (["log", "event", "jane", "a", "-p", #"t={"$time":"no"}"#], "The property t has a `$time`"),
            (["log", "attribute", "jane", #"n={"inc":1.5}"#], "The attribute n has an `inc` that is no integer."),
            (["log", "event", "jane", "b", "--expect", "9"], "with --expect 3."),
            (["log", "event", "jane", "", "--key", "k"], "Correct it and try again."),
        ]
        for row in rows {
            let outcome = try cli.run(row.arguments)
            #expect([1, 64, 75].contains(outcome.status))
            #expect(outcome.errors.contains(row.message), "\(outcome.errors)")
            for word in ["as_of", "send it", "Send", "GET", "append at"] {
                #expect(!outcome.errors.contains(word), "\(outcome.errors)")
            }
        }
    }

    @Test("A negative number is a value, and where none can be negative, that is the error")
    func negative() throws {
        try cli.succeed("log", "event", "jane", "game", "-p", "Score=-5", "--property", "x=-1.5")
        try cli.succeed("log", "attribute", "jane", "debt=-5", "--string", "code=-7")
        let history = try cli.succeed("history", "jane", "--format", "json").output
        #expect(history.contains(#""properties":{"Score":-5,"x":-1.5}"#))
        #expect(history.contains(#""attributes":{"code":"-7","debt":-5}"#))
        let rows: [(arguments: [String], message: String)] = [
            (["history", "jane", "--limit", "-1"], "--limit must be 1 or more."),
            (["history", "jane", "--from", "-1"], "The value '-1' is invalid for '--from <version>'"),
            (["users", "-n", "-1"], "--limit must be 1 or more."),
            (["users", "--after", "-1"], "The value '-1' is invalid for '--after <number>'"),
            (["tail", "-n", "-1"], "The value '-1' is invalid for"),
            (["log", "event", "jane", "a", "--expect", "-1"], "--expect must be"),
            (["log", "event", "jane", "a", "--time", "-1"], "--time must be a time"),
            (["log", "event", "jane", "a", "--at=-1"], "--at must be a time"),
            (["log", "event", "jane", "a", "--time", "2026-02-30"], "--time must be a time"),
            (["launch", "--time", "2026-02-30"], "--time must be a time"),
            (["history", "jane", "--since", "-1"], "--since must count seconds"),
            (["replay", "--threads", "-1"], "--threads must be from 1"),
            (["replay", "--until", "-1"], "--until must be a position"),
            (["generate", "--events", "-1"], "--events must not be negative."),
            (["history", "jane", "--from", "3", "--to", "2"], "--from must not be greater than --to."),
        ]
        for row in rows {
            let outcome = try cli.run(row.arguments)
            #expect(outcome.status == 64)
            #expect(outcome.errors.contains(row.message), "\(outcome.errors)")
        }
    }

    @Test("An alias or a braze_id in another form is told the form")
    func forms() throws {
        let (alias, braze) = ("An alias is written alias:LABEL:NAME", "A braze_id is written braze: and 24 hexadecimal")
        for command in ["profile", "history"] {
            #expect(try cli.run(command, "alias:x").errors.contains("alias:x.\n\(alias)"))
            #expect(try cli.run(command, "braze:zz").errors.contains("braze:zz.\n\(braze)"))
        }
        let known = try cli.run("profile", "braze:0123456789abcdef01234567").errors
        #expect(known.contains("See `profilecli users` for those that exist."), "\(known)")
        #expect(try cli.run("log", "event", "braze:zz", "a").errors.contains(braze))
        #expect(try cli.succeed("log", "event", "alias:x", "a").errors.contains(alias))
    }

    @Test("What this store does not have is a failure, and what no store could have is wrong usage")
    func exitStatus() throws {
        let refused: [[String]] = [
            ["profile", "jane", "--as-of", "999"], ["profile", "jane", "--as-of", "version:9"],
            ["users", "--as-of", "2999-01-01"], ["diff", "jane", "1", "999"], ["rules", "show", "--as-of", "999"],
            ["profile", "jane", "--at-launch", "4"], ["history", "jane", "--launch", "4"],
            ["tail", "--after", "999", "--no-follow"], ["pending", "retry", "999"], ["pending", "retry", "2"],
            ["void", "999", "--reason", "x"], ["replay", "--until", "999"], ["replay", "--shadow", "--until", "999"],
            ["whatif", "--without", "event:999"], ["whatif", "--without", "name:unseen"],
            ["users", "--where", "custom.unseen > 1"], ["stats", "--plot", "unseen"], ["push", "open"],
            ["messages", "present", "--message", "none"],
        ]
        let wrong: [[String]] = [
            ["profile", "jane", "--as-of", "soon"], ["users", "--as-of", "version:1"], ["diff", "jane", "noon"],
            ["profile", "jane", "--at-launch", "0"], ["tail", "--after", "x", "--no-follow"],
            ["pending", "retry", "0"], ["void", "0", "--reason", "x"], ["replay", "--until", "soon"],
            ["whatif", "--without", "event"], ["users", "--where", "country >"],
            ["push", "act", "--button", "b", "--push", "0"], ["log", "event", "jane", "a", "--at", "soon"],
        ]
        for (commands, status) in [(refused, Int32(1)), (wrong, 64)] {
            for command in commands {
                let outcome = try cli.run(command)
                #expect(outcome.status == status, "\(command): \(outcome.errors)")
            }
        }
    }

    @Test("An unknown address or number is an error that does not show it")
    func lookUp() throws {
        for (id, kind) in [("email:nobody@example.org", "e-mail address"), ("phone:555", "phone number")] {
            for command in [["profile", id], ["history", id], ["pending", "--user", id]] {
                let outcome = try cli.run(command)
                #expect(outcome.status == 1)
                #expect(outcome.errors.contains("No user has this \(kind)"), "\(outcome.errors)")
                #expect(outcome.errors.contains("Name the user by external ID"))
                #expect(!outcome.errors.contains("nobody@") && !outcome.errors.contains("555"))
            }
        }
        try cli.succeed("log", "event", "email:new@example.org", "a")
        #expect(try cli.succeed("profile", "email:new@example.org").output.contains("version 2"))
    }

    @Test("A user attribute that does not exist is named, and the nearest comes first")
    func unknownAttribute() throws {
        for verb in ["save", "log"] {
            let shoe = try cli.run(verb, "user-attribute", "bob", "shoe", "44")
            #expect(shoe.errors.contains("`shoe` is no user attribute."))
            #expect(shoe.errors.contains("one of email, first_name, last_name"))
            let near = try cli.run(verb, "user-attribute", "bob", "homecity", "Oslo")
            #expect(near.errors.contains("`homecity` is no user attribute.\nDid you mean home_city?"))
            #expect(near.errors.contains("one of home_city, email, first_name"))
            let exchanged = try cli.run(verb, "user-attribute", "bob", "emial", "x")
            #expect(exchanged.status == 64 && exchanged.errors.contains("Did you mean email?"), "\(exchanged.errors)")
        }
        #expect(try cli.run("log", "attribute", "bob", "level").errors.contains("An attribute is written KEY=VALUE"))
        #expect(try cli.run("log", "event", "bob", "a", "-p", "x").errors.contains("A property is written KEY=VALUE"))
    }

    @Test("A launch says when nothing was known of the device, and where something waits")
    func newDevice() throws {
        try cli.succeed("save", "event", "jane", "opened", "--device", "phone-1")
        let mistyped = try cli.succeed("launch", "phone1")
        #expect(mistyped.output.contains("Launched phone1"))
        #expect(mistyped.errors.contains("The device phone1 is new."))
        #expect(mistyped.errors.contains("Something waits on phone-1."))
        #expect(try cli.succeed("launch", "phone-1").errors.isEmpty)
        #expect(try cli.succeed("launch", "phone1").errors.isEmpty)
        let other = try cli.succeed("launch", "tablet", "--format", "json")
        #expect(other.output.contains(#""new_device":true"#))
        #expect(other.errors.contains("Nothing waits on any other"))
    }

    @Test("A commit with the clock ten years ahead stops nothing: stats and check report it, and a copy is mended")
    func clockAhead() throws {
        let clock = try ClockShim()
        try cli.succeed("log", "event", "jane", "before")
        let ahead = clock.environment(seconds: 315_576_000)
        #expect(try cli.run("log", "event", "jane", "ahead", environment: ahead).status == 0)
        try cli.succeed("log", "event", "jane", "after")
        for command in ["stats", "check"] {
            let told = try cli.succeed(command).errors
            #expect(told.contains("The clock was ahead when position 5 was recorded: by 3652 days"), "\(told)")
        }
        #expect(try cli.succeed("stats", "--format", "json").output.contains(#""clock_ahead":{"position":5,"#))
        try cli.succeed("replay", "--into", "copy", "--mend-clock")
        #expect(try cli.succeed("check", "--store", "copy").errors.isEmpty)
        let history = try cli.succeed("history", "jane", "--store", "copy").output
        #expect(["before", "ahead", "after"].allSatisfy(history.contains))
        let now = Date.now.addingTimeInterval(60).ISO8601Format()
        #expect(try cli.succeed("replay", "--until", now, "--store", "copy").output.contains("6 events"))
        #expect(try cli.run("replay", "--mend-clock").status == 64)
    }
}
