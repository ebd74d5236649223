import Foundation
import ProfileLog
import TestSupport
import Testing

@Suite("Bad input gets one clear sentence, the next step and an exit status")
struct BadInputTests {
    @Test(
        "Wrong usage is 64",
        arguments: [
            (["frobnicate"], "There is no command profilecli frobnicate."),
            (["save", "event", "jane"], "Missing expected argument"),
            (["log", "event", "jane", "a", "-p", "novalue"], "no equals sign"),
            (["log", "event", "jane", "a", "-p", "=1"], "no key"),
            (["log", "event", "jane", "a", "-p", "x=1", "--string", "x=2"], "given twice"),
            (["log", "event", "jane", "a", "-p", "x=9223372036854775808"], "more than 64 bits"),
            (["log", "event", "jane", "a", "-p", "x=1e999"], "too large"),
            (["log", "event", "jane", "a", "-p", #"x={"k":1,"k":2}"#], "twice in one object"),
            (["log", "event", "jane", "a", "--time", "soon"], "--time must be a time"),
            (["log", "event", "jane", "a", "--expect", "-1"], "--expect"),
            (["log", "purchase", "jane", "p", "--price", "NaN", "--currency", "EUR"], "finite"),
            (["log", "attribute", "jane"], "no attribute"),
            (["save", "event", "jane", "a", "--private", "--app-group", "g"], "exclude each other"),
            (["launch", ""], "DEVICE must not be empty"),
            (["device", "settings", "--session-timeout", "0"], "--session-timeout must be 1s at least"),
            (["device", "settings", "--session-timeout", "0m"], "--session-timeout must be 1s at least"),
            (["device", "settings", "--session-timeout", "-1"], "--session-timeout must be seconds"),
            (["device", "settings", "--flush-interval", "-1"], "--flush-interval must be seconds"),
            (["device", "settings", "--flush-interval", "50000d"], "--flush-interval must be seconds"),
            (["replay", "--until", "soon"], "--until must be a position"),
            (["stats", "--url", "http://127.0.0.1:1", "--store", "x"], "exclude each other"),
            (["stats", "--url", "ftp://x"], "not the address of a service"),
            (["check", "--url", "http://127.0.0.1:1"], "store's own files"),
            (["stats", "--format", "xml"], "format"),
        ])
    func usage(arguments: [String], message: String) throws {
        let cli = try CLI()
        let outcome = try cli.run(arguments)
        #expect(outcome.status == 64, "\(outcome.errors)")
        #expect(outcome.output.isEmpty)
        #expect(outcome.errors.contains(message), "\(outcome.errors)")
        #expect(!FileManager.default.fileExists(atPath: cli.store), "a refused command must not make a store")
    }

    @Test(
        "A file that cannot be read is named with the reason, by each command that takes one",
        arguments: [
            ["import", "FILE"], ["import", "--suggest", "FILE"], ["import", "table.csv", "--map", "FILE"],
            ["import", "--user-defaults", "FILE"], ["tag", "FILE", "event"], ["rules", "set", "FILE"],
            ["scenario", "run", "FILE"], ["scenario", "check", "FILE"], ["messages", "declare", "FILE"],
            ["traits", "jane", "--workspace", "FILE"], ["sends", "--due", "--workspace", "FILE"],
            ["push", "receive", "d", "--payload", "@FILE"], ["device", "settings", "d", "--messages", "@FILE"],
            ["device", "settings", "d", "--content-extension", "@FILE"], ["log", "event", "jane", "x", "-p", "@FILE"],
        ])
    func unreadable(arguments: [String]) throws {
        let cli = try CLI()
        try cli.succeed("log", "event", "jane", "hello", "--device", "d")
        _ = try cli.write("user,event\n", as: "table.csv")
        let outcome = try cli.run(arguments.map { $0.replacing("FILE", with: "group.none.plist") })
        #expect(outcome.status == 64, "\(outcome.errors)")
        #expect(
            outcome.errors.contains("The file group.none.plist cannot be read: No such file or directory."),
            "\(outcome.errors)")
    }

    @Test("A folder is no file")
    func folder() throws {
        let cli = try CLI()
        let outcome = try cli.run("import", ".", "--store", "fresh")
        #expect(outcome.status == 64, "\(outcome.errors)")
        #expect(outcome.errors.contains("cannot be read: Is a directory."), "\(outcome.errors)")
    }

    @Test(
        "Wrong arguments that a running command finds come with its usage",
        arguments: [
            ["push", "receive", "d", "--payload", "[]"], ["push", "receive", "d", "--payload", "{"],
            ["device", "settings", "d", "--content-extension", "{"],
        ])
    func ownUsage(arguments: [String]) throws {
        let cli = try CLI()
        try cli.succeed("log", "event", "jane", "hello", "--device", "d")
        let outcome = try cli.run(arguments)
        let command = "profilecli \(arguments[0]) \(arguments[1])"
        #expect(outcome.status == 64 && outcome.output.isEmpty, "\(outcome)")
        #expect(outcome.errors.contains("Usage: \(command) ["), "\(outcome.errors)")
        #expect(outcome.errors.contains("See '\(command) --help'"), "\(outcome.errors)")
    }

    @Test("A standard attribute of a command takes what the REST API takes (StandardAttributeTests has the values)")
    func standardAttributes() throws {
        let cli = try CLI()
        let outcome = try cli.run(
            "log", "user-attribute", "jane", "current_location", #"{"longitude":200,"latitude":1}"#)
        #expect(
            outcome.status == 64 && outcome.errors.contains("The user attribute current_location "), "\(outcome.errors)"
        )
        try cli.succeed("log", "user-attribute", "jane", "home_city", "1")
        try cli.succeed("save", "user-attribute", "jane", "twitter", #"{"screen_name":"jane"}"#)
        #expect(try cli.succeed("profile", "jane", "--format", "json").output.contains(#""home_city":"1""#))
    }

    @Test("What the log refuses names the field and stores nothing; it is 64 if it was typed wrong, and else 1")
    func refused() throws {
        let cli = try CLI()
        try cli.succeed("log", "event", "jane", "a")
        let long = String(repeating: "x", count: 256)
        let large = String(repeating: "y", count: 100_000)
        // An argument has at most 128 KiB.
        let list =
            "[" + Array(repeating: "\"\(String(repeating: "y", count: 250))\"", count: 220).joined(separator: ",") + "]"
        let typedWrong: [(arguments: [String], message: String)] = [
            (["log", "event", "jane", ""], "The event's name must not be empty."),
            (["log", "event", "jane", long], "not be longer than 255 characters"),
            (["log", "event", "", "a"], "1 to 997 bytes"),
            (["log", "event", "jane", "a", "-p", "k=\(list)"], "The properties must not be larger than 50 KB."),
            (
                ["log", "event", "jane", "a", "-p", "k=\(large)"],
                "The property k must not be longer than 255 characters"
            ),
            (["log", "event", "jane", "$a"], "The event's name must not begin with $."),
            (["log", "user-attribute", "jane", "email", "yyyy"], "must be an e-mail address"),
            (["log", "user-attribute", "jane", "phone", "yyyy"], "must be a phone number"),
            (["log", "event", String(repeating: "z", count: 1_000), "a"], "997 bytes"),
            (["save", "event", "jane", "a", "--device", String(repeating: "d", count: 201)], "1 to 200 bytes"),
            (["log", "event", "jane", "a", "--key", String(repeating: "k", count: 1_001)], "1000 bytes"),
            (["log", "user-attribute", "jane", "shoe_size", "42"], "is no user attribute"),
            (["log", "purchase", "jane", "p", "--price", "1", "--currency", "euro"], "three capital letters"),
            (["log", "purchase", "jane", "p", "--price", "1", "--currency", "XXQ"], "--currency must be a currency"),
            (["profile", "jane", "--as-of", "soon"], "--as-of is no moment of the past"),
            (["profile", "jane", "--as-of", "yesterdy"], "Did you mean yesterday?"),
            (["profile", "jane", "--as-of", "2026-02-30"], "--as-of is no day or time of the calendar"),
            (["history", "jane", "--since", "12"], "--since must be a time"),
            (["profile", "jane", "--as-of", "version:"], "--as-of must have a whole number"),
            (["profile", "jane", "--as-of", "-1"], "--as-of must count seconds"),
            (["history", "jane", "--kind", "dance"], "--kind must be a kind of event"),
            (["history", "jane", "--kind", "customEventLoged"], "Did you mean customEventLogged? The kinds are"),
            (["launch", "--kind", "warm"], "--kind must be cold, background, return or locked"),
            (["launch", "--die-after", "lunch"], "--die-after must be launched or handed"),
            (["launch", "--only", "foo"], "--only must list events, attributes or user-attributes"),
            (["launch", "--only", "events,"], "--only must list events, attributes or user-attributes"),
            (["launch", "--only", ""], "--only must list events, attributes or user-attributes"),
            (["save", "event", "jane", "a", "--at", "1960-01-01T00:00:00Z"], "must not be before 1970"),
        ]
        let unknown: [(arguments: [String], message: String)] = [
            (["profile", "nobody"], "No user is known as nobody."),
            (["log", "event", "braze:000000000000000000000000", "a"], "No user has this ID."),
            (["profile", "jane", "--as-of", "999"], "beyond the log's last position"),
        ]
        for row in typedWrong + unknown {
            let outcome = try cli.run(row.arguments)
            let isUsage = typedWrong.contains { $0.arguments == row.arguments }
            #expect(outcome.status == (isUsage ? 64 : 1), "\(row.message): \(outcome.errors)")
            #expect(outcome.output.isEmpty)
            #expect(outcome.errors.contains(row.message), "\(row.message): \(outcome.errors.prefix(300))")
            #expect(outcome.errors.split(separator: "\n").count == 2, "\(outcome.errors.prefix(300))")
            #expect(!outcome.errors.contains("yyyy"))
        }
        #expect(try cli.succeed("stats", "--format", "json").output.contains(#""events":2,"#))
    }

    @Test("NaN and what is no JSON is text")
    func text() throws {
        let cli = try CLI()
        try cli.succeed("log", "event", "jane", "a", "-p", "x=NaN", "-p", "y=10 apples", "-p", "z=1.0")
        #expect(
            try cli.succeed("history", "jane", "--format", "json").output
                .contains(#""properties":{"x":"NaN","y":"10 apples","z":1.0}"#))
    }

    @Test("An argument that is not UTF-8 is refused")
    func notUTF8() throws {
        let cli = try CLI()
        let outcome = try cli.shell("exec \"$0\" log event jane \"$(printf 'caf\\351')\"")
        #expect(outcome.status == 64)
        #expect(outcome.errors.contains("not valid UTF-8"))
    }

    @Test("A missing, foreign, newer, truncated or unusable store is named")
    func stores() throws {
        let cli = try CLI(.damaged)
        let missing = try cli.run("stats", "--store", "nowhere")
        #expect(missing.status == 1)
        #expect(missing.errors.contains("There is no ProfileLog store in nowhere."))
        let foreign = cli.folder.appending(path: "foreign")
        try FileManager.default.createDirectory(at: foreign, withIntermediateDirectories: true)
        _ = try cli.write(String(repeating: "no store ", count: 2_000), as: "foreign/data.mdb")
        for arguments in [["stats"], ["log", "event", "jane", "a"], ["check"]] {
            let outcome = try cli.run(arguments + ["--store", foreign.path])
            #expect(outcome.status == 1)
            #expect(outcome.errors.contains("are not a ProfileLog store"), "\(outcome.errors)")
        }
        let file = try cli.write("a file", as: "file")
        #expect(try cli.run("log", "event", "jane", "a", "--store", file).status == 1)
        #expect(try cli.run("stats", "--url", "http://127.0.0.1:1").errors.contains("Nothing answers at"))
    }

    @Test("Damage is found, named, and exits with 2")
    func damage() throws {
        let cli = try CLI(.damaged)
        try cli.succeed("log", "event", "jane", "a-name-to-be-damaged", "-p", "text=needle-in-the-record")
        var bytes = try Data(contentsOf: cli.file)
        var range = bytes.startIndex..<bytes.endIndex
        var count = 0
        while let found = bytes.range(of: Data("needle".utf8), in: range) {
            bytes[found.lowerBound] = UInt8(ascii: "N")
            range = found.upperBound..<bytes.endIndex
            count += 1
        }
        #expect(count > 0)
        try bytes.write(to: cli.file)
        let check = try cli.run("check")
        #expect(check.status == 2, "\(check.output) \(check.errors)")
        #expect(check.output.contains("log 2  the checksum is wrong"), "\(check.output)")
        #expect(!check.output.contains("eedle"))
        #expect(try cli.run("check", "--format", "json").output.contains(#""sound":false"#))
        for command in [
            ["replay"], ["history", "jane"], ["profile", "jane"], ["log", "event", "jane", "b"], ["pending"],
        ] {
            let outcome = try cli.run(command)
            #expect(outcome.status == 2 && outcome.errors.contains("`profilecli check`"), "\(command): \(outcome)")
        }
    }

    @Test("Damage in the middle hides what needs it; the rest is printed, the damage named, and the status is 2")
    func contained() throws {
        let cli = try CLI(.damaged)
        do {
            let log = try EventLog(path: cli.store, create: true)
            for user in ["ana", "bo", "cleo"] {
                let note = CustomEvent(name: "noted", properties: [.init("text", .string("the note of \(user)"))])
                _ = try log.append(
                    [.customAttributesChanged([AttributeChange("level", .set(.int(1)))]), .customEventLogged(note)],
                    to: .externalID(user))
            }
            try log.writeIndex()
        }
        var bytes = try Data(contentsOf: cli.file)
        // Also on pages that earlier commits left.
        while let note = bytes.range(of: Data("the note of bo".utf8)) { bytes[note.lowerBound] = UInt8(ascii: "T") }
        try bytes.write(to: cli.file)
        let (record, user) = ("the record at position 6 fails its checksum", "user 2 (the record at position 6")
        let commands: [([String], shown: [String], named: String)] = [
            (["users", "--where", "custom.level = 1"], ["ana", "cleo"], user),
            (["users", "--where", "custom.level = 1", "--count"], ["2\n"], user),
            (["diff", "--all", "0"], ["ana", "cleo", "2 users changed, 2 of them new."], user),
            (["export", "--profiles"], [#""id":"ana""#, #""id":"cleo""#], user),
            (["export", "--events"], ["of ana", #""position":5"#, #""position":7"#, "of cleo"], record),
            (["history", "bo"], ["user created", "level=1"], record),
            (["history", "bo", "--graph"], ["2 events"], record),
        ]
        for (arguments, shown, named) in commands {
            let outcome = try cli.run(arguments)
            #expect(outcome.status == 2, "\(arguments): \(outcome)")
            for text in shown { #expect(outcome.output.contains(text), "\(arguments): \(outcome.output)") }
            #expect(!outcome.output.contains("note of bo"), "\(arguments)")
            #expect(outcome.errors.contains(named), "\(arguments): \(outcome.errors)")
            #expect(outcome.errors.contains("`profilecli check`"), "\(arguments): \(outcome.errors)")
        }
        let file = try cli.run("export", "--profiles", "--format", "csv", "--into", "p.csv")
        #expect(file.status == 2 && file.errors.contains("1 row could not be read"), "\(file.errors)")
        let text = try String(contentsOf: cli.folder.appending(path: "p.csv"), encoding: .utf8)
        #expect(text.contains(",ana,") && text.contains(",cleo,") && !text.contains(",bo,"), "\(text)")
    }

    @Test("A read-only folder is refused to a user who may not write", .enabled(if: getuid() == 0))
    func readOnlyFolder() throws {
        let cli = try CLI()
        let setpriv = URL(filePath: "/usr/bin/setpriv")
        try cli.succeed("log", "event", "jane", "a")
        // Only its owner may read a new store.
        let shared = try cli.run(["-R", "a+rX", "store"], command: URL(filePath: "/bin/chmod"))
        #expect(shared.status == 0, "\(shared.errors)")
        let program = cli.folder.appending(path: "program")
        // By a child: a descriptor of ours, open for writing while another test starts a process, would make the copy
        // "busy".
        let copy = try cli.run([CLI.program.path, program.path], command: URL(filePath: "/bin/cp"))
        #expect(copy.status == 0, "\(copy.errors)")
        let nobody = ["--reuid=65534", "--regid=65534", "--clear-groups", program.path]
        let write = try cli.run(nobody + ["log", "event", "jane", "b"], command: setpriv)
        #expect(write.status == 1)
        #expect(write.errors.contains("You may not write in"), "\(write.errors)")
        let read = try cli.run(nobody + ["history", "jane"], command: setpriv)
        #expect(read.errors.contains("even who only reads a store takes a lock in its lock.mdb"), "\(read.errors)")
        #expect(read.errors.contains("copy data.mdb into an empty folder of your own"))
        let create = try cli.run(nobody + ["log", "event", "jane", "b", "--store", "new"], command: setpriv)
        #expect(create.status == 1)
        #expect(create.errors.contains("may not write") || create.errors.contains("cannot be used"), "\(create.errors)")
        #expect(try cli.succeed("history", "jane", "--format", "json").lines.count == 2)
        // It may be listed, and not entered.
        try FileManager.default.setAttributes([.posixPermissions: 0o744], ofItemAtPath: cli.store)
        let listed = try cli.run(nobody + ["history", "jane"], command: setpriv)
        #expect(listed.status == 1 && listed.errors.contains("cannot be used"), "\(listed)")
    }
}
