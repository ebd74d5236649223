import Foundation
import TestSupport
import Testing

@Suite("Import and export of an app group's preferences")
struct UserDefaultsTests {
    /// The property lists that `make.py` there writes.
    private static let fixtures = Repository.file("Tests/Fixtures/user-defaults")

    private static func fixture(_ name: String) -> String {
        fixtures.appending(path: "group.com.company.\(name).plist").path
    }

    /// Returns the waiting items, one a line, without times, positions, keys and processes.
    private func pending(_ cli: CLI, _ arguments: String...) throws -> [String] {
        let outcome = try cli.run(["pending", "--format", "json"] + arguments)
        #expect(outcome.status == 0, "\(outcome.errors)")
        let passing = /"(age_s|key|occurred_at|position|process|recorded_at|saved_at)":("[^"]*"|[0-9.]+),?/
        return outcome.lines.map { $0.replacing(passing, with: "") }
    }

    @Test("What the SDK's queue holds keeps nothing from being written")
    func besideQueue() throws {
        let cli = try CLI()
        try cli.succeed("save", "event", "jane", "one", "--app-group", "group.app")
        try cli.succeed("device", "settings", "--offline")
        try cli.succeed("launch")
        try cli.succeed("save", "event", "jane", "two", "--app-group", "group.app")
        let file = try cli.write("", as: "group.app.plist")
        try FileManager.default.removeItem(atPath: file)
        let written = try cli.succeed("export", "--user-defaults", file, "--app-group", "group.app")
        #expect(written.errors.contains("Wrote 1 item"), "\(written.errors)")
    }

    // MARK: - Reading

    @Test(
        "Binary and XML, Swift's codings and Objective-C's: all are saved, in order and with their types",
        arguments: ["binary", "xml"])
    func everyForm(format: String) throws {
        let cli = try CLI()
        let imported = try cli.succeed("import", "--user-defaults", Self.fixture(format), "--process", "PushContent")
        #expect(imported.output.contains("Saved 16 items"))
        #expect(imported.output.contains("4 custom events, 3 custom attribute items, 9 user attributes"))
        #expect(imported.output.contains("Next: profilecli launch"))
        #expect(imported.errors.contains("Other keys are ignored: home_tile_priority, override_api_key."))
        #expect(!imported.errors.contains("secret"))
        let lines = try cli.succeed("pending", "--format", "json").lines
        let expected = [
            #""name":"Completed Match Game","#, #""name":"Viewed Session Progress","#, #""name":"types","#,
            #""properties":{"Score":10}"#, #"{"Certification Registration Email":"jane@example.org"}"#,
            #""smallest":-9223372036854775808,"text":"お茶","true":true}"#,
            #"{"looks like an operation":{"$set":{"inc":1}}}"#, #""value":"guide@example.org""#,
            #""value":"own@example.org""#, #""value":"xml@example.org""#, #""value":"archive@example.org""#,
            #""value":"花子""#, #""value":null"#, #""value":null"#, #""value":null"#, #""value":null"#,
        ]
        try #require(lines.count == expected.count)
        for (line, part) in zip(lines, expected) {
            #expect(line.contains(part), "\(line)")
            #expect(line.contains(#""storage":"group.com.company.\#(format)""#))
            #expect(line.contains(#""process":"PushContent""#))
            #expect(line.contains(#""user":"device:phone""#))
        }
        let types =
            #"{"array":[1,1.0,true,"a",[{"$time":"2026-01-31T23:59:58.000Z"}]],"#
            + #""date":{"$time":"2026-01-31T23:59:58.000Z"},"false":false,"integer":1,"largest":9223372036854775807,"#
            + #""object":{"inner":{"n":0,"r":0.0},"list":[]},"real":1.0,"#
        #expect(lines[2].contains(types), "\(lines[2])")
        #expect(lines[5].contains(types), "\(lines[5])")
        #expect(lines[11].contains(#""attribute":"first_name""#))
        let launched = try cli.succeed("launch")
        #expect(launched.output.contains("16 flushed, 0 rejected, 0 left"))
        #expect(try cli.succeed("profile", "device:phone", "--format", "json").output.contains(#"{"inc":1}"#))
        #expect(try cli.succeed("check").output.hasPrefix("Sound"))
    }

    @Test("A file that was imported before saves nothing, even after a launch; for another user it is a conflict")
    func rerun() throws {
        let cli = try CLI()
        let command = ["import", "--user-defaults", Self.fixture("binary")]
        #expect(try cli.run(command).status == 0)
        for _ in 0..<2 {
            let again = try cli.run(command)
            #expect(again.status == 0)
            #expect(again.output.contains("was imported before: nothing was saved"), "\(again.output)")
            try cli.succeed("launch")
        }
        let other = try cli.run(command + ["--user", "jane"])
        #expect(other.status == 75)
        #expect(other.errors.contains("with another --user, --process or --app-group"))
        let elsewhere = try cli.run(command + ["--device", "tablet", "--user", "jane", "--format", "json"])
        #expect(
            elsewhere.output.contains(
                #""device":"tablet","app_group":"group.com.company.binary","saved":16,"repeated":0"#))
        #expect(try pending(cli).count == 16)
        #expect(try cli.succeed("pending", "--user", "jane", "--format", "json").lines.count == 16)
    }

    @Test(
        "What cannot be saved is named by key and index, without values; the rest is saved, or nothing with --strict"
    )
    func refusals() throws {
        let cli = try CLI()
        let strict = try cli.run("import", "--user-defaults", Self.fixture("faulty"), "--strict")
        #expect(strict.status == 1)
        #expect(strict.output.isEmpty)
        #expect(strict.errors.contains("16 items of group.com.company.faulty.plist cannot be saved; with --strict"))
        let json = try cli.run("import", "--user-defaults", Self.fixture("faulty"), "--strict", "--format", "json")
        #expect(json.status == 1 && json.output.contains(#""saved":0,"repeated":0,"refused":[{"#))
        #expect(json.output.contains(#"{"key":"pending_custom_events","index":1,"reason":"has no event_name"}"#))
        #expect(try cli.run("pending").status == 1, "a store was made")

        let imported = try cli.run("import", "--user-defaults", Self.fixture("faulty"))
        #expect(imported.status == 1)
        #expect(imported.output.contains("Saved 3 items"))
        #expect(imported.output.contains("refused 16; 3 items wait on phone"))
        let reasons = [
            "pending_custom_events[1] has no event_name.",
            "pending_custom_events[2] has an event_name that is an integer, not text.",
            "pending_custom_events[3] is a string, where a dictionary is expected.",
            "pending_custom_events[4] has a property bytes that holds data, which no profile can hold.",
            "pending_custom_events[5] is refused: the event's name must not be longer than 255 characters.",
            "pending_custom_events[6] has a property deep that holds a number that is not finite",
            "pending_custom_events[7] has a property n that holds an integer of more than 64 bits",
            "pending_custom_events[8] is data, where a dictionary is expected.",
            "pending_custom_attributes is a dictionary, not an array.",
            "pending_user_attributes[1] is a string, where data is expected.",
            "pending_user_attributes[2] is data that codes no user attribute.",
            "pending_user_attributes[3] has the attributeType 3; only 0, the e-mail address, is known.",
            "pending_user_attributes[4] has a userField that is an integer, not text.",
            "pending_user_attributes[5] codes shoeSize, which is not a user attribute.",
            "pending_user_attributes[6] is refused: the user attribute gender must be one of M, F, O, N, P.",
            "pending_user_attributes[7] is a keyed archive of no object.",
        ]
        for errors in [strict.errors, imported.errors] {
            let lines = errors.split(separator: "\n").filter { $0.hasPrefix("pending_") }
            #expect(lines.count == reasons.count)
            for (line, reason) in zip(lines, reasons) { #expect(line.hasPrefix(reason), "\(line)") }
            #expect(!errors.contains("secret"))
        }
        let again = try cli.run("import", "--user-defaults", Self.fixture("faulty"), "--format", "json")
        #expect(again.status == 1)
        #expect(again.output.contains(#""saved":0,"repeated":3"#))
        #expect(again.output.contains(#"{"key":"pending_custom_events","index":1,"reason":"has no event_name"}"#))
        #expect(again.output.contains(#"{"key":"pending_custom_attributes","reason":"is a dictionary, not an array"}"#))
        #expect(try pending(cli).count == 3)
    }

    @Test("An app understands the coding of its own language alone")
    func language() throws {
        let cli = try CLI()
        let swift = try cli.run("import", "--user-defaults", Self.fixture("binary"), "--language", "swift")
        #expect(swift.status == 1)
        #expect(swift.errors.contains("pending_user_attributes[3] is a keyed archive, which no Swift app reads."))
        #expect(swift.output.contains("7 user attributes"))
        let objc = try cli.run(
            "import", "--user-defaults", Self.fixture("binary"), "--language", "objc", "--device", "tablet")
        #expect(objc.output.contains("2 user attributes"))
    }

    @Test(
        "A file that is no app group's preferences is refused in one sentence, and makes no store",
        arguments: [
            ("", "is empty"), ("{\"a\":1}", "is not a property list, neither binary nor XML"),
            ("hello", "is not a property list"), ("{ a = 1; }", "is not a property list"),
            ("<?xml version=\"1.0\"?><plist version=\"1.0\"><dict><key>a", "XML property list that was cut short"),
            ("bplist00\u{1}\u{2}", "binary property list that was cut short"),
            ("<plist version=\"1.0\"><array/></plist>", "holds an array, not a dictionary"),
        ])
    func foreignFiles(content: String, reason: String) throws {
        let cli = try CLI()
        let outcome = try cli.run("import", "--user-defaults", try cli.write(content, as: "group.a.plist"))
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains(reason), "\(outcome.errors)")
        #expect(outcome.errors.split(separator: "\n").count == 2)
        #expect(try cli.run("pending").status == 1)
    }

    @Test("A missing file, a folder and a cut file have different errors")
    func unreadableFiles() throws {
        let cli = try CLI()
        let cut = cli.folder.appending(path: "group.cut.plist")
        try Data(contentsOf: URL(filePath: Self.fixture("binary"))).dropLast(40).write(to: cut)
        #expect(try cli.run("import", "--user-defaults", cut.path).errors.contains("cut short"))
        #expect(try cli.run("import", "--user-defaults", "group.no.plist").errors.contains("No such file"))
        let folder = try cli.run("import", "--user-defaults", cli.folder.path, "--app-group", "group.a")
        #expect(folder.errors.contains("Is a directory"))
    }

    @Test("Options that mean nothing together are wrong usage")
    func usage() throws {
        let cli = try CLI()
        let file = try cli.write("", as: "preferences.plist")
        for arguments in [
            ["import"], ["import", "--user-defaults", file], ["import", "--user-defaults", file, "--app-group", "app"],
            ["import", "--user-defaults", file, "--app-group", "group."],
            ["import", "--user-defaults", file, "x.jsonl"],
            ["import", "x.jsonl", "--strict"], ["export", "--xml"], ["export", "--user-defaults", file],
            ["export", "--user-defaults", file, "--app-group", "group.a", "-o", "x"],
        ] {
            #expect(try cli.run(arguments).status == 64, "\(arguments)")
        }
    }

    @Test("Import and export of preferences do with --url as with --store")
    func remote() throws {
        let cli = try CLI()
        let service = try RemoteTests.Service(cli)
        for file in ["binary", "faulty", "binary"] {
            let command = ["import", "--user-defaults", Self.fixture(file)]
            let remote = try cli.run(command, environment: service.environment)
            let local = try cli.run(command + ["--store", "local"])
            #expect(remote.status == local.status)
            #expect(remote.output == local.output.replacing(" --store local", with: ""))
            #expect(remote.errors == local.errors.replacing("New store at ./local.\n", with: ""))
        }
        let files = ["remote", "local"].map { cli.folder.appending(path: "\($0)/group.com.company.binary.plist") }
        for file in files {
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        }
        #expect(
            try cli.run(["export", "--user-defaults", files[0].path], environment: service.environment).status == 0)
        try cli.succeed("export", "--user-defaults", files[1].path, "--store", "local")
        for (index, file) in files.enumerated() {
            try cli.succeed("import", "--user-defaults", file.path, "--store", "\(index)")
        }
        #expect(try pending(cli, "--store", "0") == pending(cli, "--store", "1"))
        #expect(service.end() == 0)
        #expect(try cli.succeed("check").output.hasPrefix("Sound"))
    }

    // MARK: - Writing

    @Test("What an export writes is imported as the same pending items", arguments: [[], ["--xml"]])
    func roundTrip(options: [String]) throws {
        let cli = try CLI()
        try cli.succeed("import", "--user-defaults", Self.fixture("binary"))
        try cli.succeed("save", "event", "device:phone", "elsewhere", "--app-group", "group.other")
        let file = cli.folder.appending(path: "group.com.company.binary.plist")
        let exported = try cli.run(["export", "--user-defaults", file.path] + options)
        #expect(exported.status == 0)
        #expect(exported.errors.contains("Wrote 16 items of phone, group.com.company.binary"))
        #expect(try Data(contentsOf: file).starts(with: Data((options.isEmpty ? "bplist00" : "<?xml").utf8)))
        try cli.succeed("import", "--user-defaults", file.path, "--store", "copy")
        let original = try pending(cli, "--storage", "group.com.company.binary")
        #expect(original.count == 16)
        #expect(try pending(cli, "--store", "copy") == original)
    }

    @Test("Other keys of the file stay; flushed items leave it")
    func otherKeys() throws {
        let cli = try CLI()
        let file = cli.folder.appending(path: "group.com.company.xml.plist")
        try FileManager.default.copyItem(at: URL(filePath: Self.fixture("xml")), to: file)
        try cli.succeed("import", "--user-defaults", file.path)
        try cli.succeed("launch")
        try cli.succeed("save", "attribute", "device:phone", "level=7", "--app-group", "group.com.company.xml")
        try cli.succeed("export", "--user-defaults", file.path)
        let list = try PropertyListSerialization.propertyList(from: try Data(contentsOf: file), format: nil)
        let keys = try #require(list as? [String: Any])
        #expect(keys.keys.sorted() == ["home_tile_priority", "override_api_key", "pending_custom_attributes"])
        #expect(keys["home_tile_priority"] as? [String] == ["a", "b"])
        // A file of another kind is not overwritten.
        let text = try cli.write("mine", as: "group.mine.plist")
        #expect(try cli.run("export", "--user-defaults", text).status == 1)
        #expect(try String(contentsOfFile: text, encoding: .utf8) == "mine")
    }

    @Test("The file that is written stays the one that it was: with its mode, its owner, and the links to it")
    func sameFile() throws {
        let cli = try CLI()
        try cli.succeed("save", "event", "jane", "a", "--app-group", "group.a")
        let (file, link) = (cli.folder.appending(path: "group.a.plist").path, cli.folder.appending(path: "link").path)
        try cli.succeed("export", "--user-defaults", file)
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "group.a.plist")
        try #require(chmod(file, 0o600) == 0)
        // Root alone may give a file away.
        _ = chown(file, 12_345, getgid())
        var (before, after) = (stat(), stat())
        try #require(stat(file, &before) == 0)
        try cli.succeed("export", "--user-defaults", link, "--app-group", "group.a", "--xml")
        try #require(stat(file, &after) == 0)
        #expect(after.st_mode == before.st_mode && after.st_uid == before.st_uid)
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == "group.a.plist")
        #expect(try String(contentsOfFile: file, encoding: .utf8).hasPrefix("<?xml"))
    }

    @Test("A pipe is written to, and nothing is read from it")
    func pipe() throws {
        let cli = try CLI()
        try cli.succeed("save", "event", "jane", "a", "--app-group", "group.a")
        func export(_ appGroup: String) throws -> CLI.Outcome {
            let script = """
                timeout 20 "$0" export --user-defaults /dev/stdout --app-group \(appGroup) | cat > group.a.plist
                exit ${PIPESTATUS[0]}
                """
            return try cli.shell(script)
        }
        // There is nothing to empty in it.
        let nothing = try export("group.b")
        #expect(nothing.status == 1 && nothing.errors.contains("--app-group group.a"), "\(nothing.errors)")
        let written = try export("group.a")
        #expect(written.status == 0 && written.errors.contains("Wrote 1 item"), "\(written.errors)")
        try cli.succeed("import", "--user-defaults", "group.a.plist", "--store", "copy")
        #expect(try pending(cli, "--store", "copy").count == 1)
    }

    @Test("A file that is there and holds nothing keeps nothing", arguments: ["/dev/stdout", "group.a.plist"])
    func empty(path: String) throws {
        let cli = try CLI()
        try cli.succeed("save", "event", "jane", "a", "--app-group", "group.a")
        let script = """
            : > group.a.plist; "$0" export --user-defaults \(path) --app-group group.a > \(
                path == "/dev/stdout" ? "group.a.plist" : "other")
            """
        let written = try cli.shell(script)
        #expect(written.status == 0 && written.errors.contains("Wrote 1 item"), "\(written.errors)")
        try cli.succeed("import", "--user-defaults", "group.a.plist", "--store", "copy")
        #expect(try pending(cli, "--store", "copy").count == 1)
    }

    @Test("A property list is not appended to a file", arguments: ["/dev/stdout", "/dev/fd/1"])
    func behind(path: String) throws {
        let cli = try CLI()
        try cli.succeed("save", "event", "jane", "a", "--app-group", "group.a")
        try cli.succeed("export", "--user-defaults", "group.a.plist", "--xml")
        let script = "\"$0\" export --user-defaults \(path) --app-group group.a >> group.a.plist"
        let file = cli.folder.appending(path: "group.a.plist")
        let before = try Data(contentsOf: file)
        let refused = try cli.shell(script)
        #expect(refused.status == 1 && refused.errors.contains("Name the file itself"), "\(refused.errors)")
        #expect(try Data(contentsOf: file) == before)
    }

    @Test("An export of an app group in which nothing waits names those in which something does")
    func otherGroup() throws {
        let cli = try CLI()
        try cli.succeed("save", "event", "jane", "a", "--app-group", "group.x")
        let file = cli.folder.appending(path: "group.y.plist").path
        let outcome = try cli.run("export", "--user-defaults", file)
        #expect(outcome.status == 1 && outcome.errors.contains("something does in group.x."), "\(outcome.errors)")
        #expect(outcome.errors.contains("--app-group group.x") && !FileManager.default.fileExists(atPath: file))
        try cli.succeed("export", "--user-defaults", file, "--app-group", "group.x")
        #expect(try cli.succeed("export", "--user-defaults", file).errors.contains("Nothing waits in group.y on phone"))
    }

    @Test("What has no form in such a file is named by its position, and stays where it waits")
    func inexpressible() throws {
        let cli = try CLI()
        try cli.succeed("save", "event", "jane", "a", "-p", "event_name=b", "--app-group", "group.x")
        try cli.succeed("save", "event", "jane", "a", "-p", "n=[null]", "--app-group", "group.x")
        try cli.succeed("save", "attribute", "jane", #"n={"inc":1}"#, "--app-group", "group.x")
        try cli.succeed("save", "attribute", "bob", "n=1", "--app-group", "group.x")
        let exported = try cli.run("export", "--user-defaults", "group.x.plist")
        #expect(exported.status == 1)
        #expect(exported.errors.contains("has a property event_name, which would replace the event's name."))
        #expect(exported.errors.contains("has a property n that holds null, which no property list can hold."))
        #expect(exported.errors.contains("does not set the attribute n, and the file can only set."))
        #expect(exported.errors.contains("Wrote 1 item of phone, group.x"))
        #expect(exported.errors.contains("3 items could not be written"))
        #expect(try pending(cli).count == 4)
    }
}
