import Foundation
import TestSupport
import Testing

@Suite("profilecli backup")
struct BackupTests {
    private let cli: CLI
    private var backup: String { cli.folder.appending(path: "backup").path }

    init() throws {
        cli = try CLI(after: [
            ["log", "event", "jane", "played"], ["log", "event", "bo", "played"],
            ["log", "attribute", "jane", "plan=canary-4711"],
        ])
    }

    /// The files of the backup with their content.
    private func contents() throws -> [String: Data] {
        var files: [String: Data] = [:]
        for path in FileManager.default.enumerator(atPath: backup)?.compactMap({ $0 as? String }) ?? [] {
            if let data = FileManager.default.contents(atPath: "\(backup)/\(path)") { files[path] = data }
        }
        return files
    }

    @Test("A backup is made, continued, listed and verified")
    func story() throws {
        let first = try cli.succeed("backup", backup)
        #expect(first.output.hasPrefix("Backed up 5 new events into \(backup), up to position 5: 1 segment written"))
        #expect(first.errors.contains("on the file system of the store"))
        try cli.succeed("log", "event", "bo", "again")
        #expect(try cli.succeed("backup", "run", backup).output.contains("1 new event into"))
        #expect(try cli.succeed("--store", cli.store, "backup", backup).output.contains("0 new events"))
        let list = try cli.succeed("backup", "list", backup)
        #expect(list.lines.contains { $0.hasPrefix("events") && $0.hasSuffix(" 6") })
        #expect(try cli.succeed("backup", "list", backup, "--segments").output.contains("log/00000001.g1.seg"))
        #expect(
            try cli.succeed("backup", "verify", backup).output == "Sound: 6 events in 1 segment, can be restored.\n")
        let drill = try cli.succeed("backup", "verify", backup, "--drill")
        #expect(drill.output == "Sound: 6 events in 1 segment, was restored and checked.\n")
    }

    @Test("What was erased leaves the backup, and --absent proves it")
    func erasure() throws {
        try cli.succeed("backup", backup)
        let held = try cli.run("backup", "verify", backup, "--absent", "canary-4711")
        #expect(held.status == 2 && held.output.contains("holds a text of --absent"))
        #expect(held.errors.contains("Erase the person in the store"))
        try cli.succeed("erase", "jane", "--reason", "asked to", "--yes")
        #expect(try cli.succeed("backup", backup).output.contains("1 new event"))
        let absent = try cli.succeed("backup", "verify", backup, "--absent", "canary-4711")
        #expect(absent.output.contains("Nothing in it holds a text of --absent."))
        let lines = try cli.succeed("erasures", "export").lines
        #expect(lines.count == 2 && lines[1].contains("\"position\":6"))
    }

    @Test("A copy from before an erasure is scrubbed by the store or by its register")
    func scrub() throws {
        try cli.succeed("backup", backup)
        for name in ["one", "two"] {
            try FileManager.default.copyItem(atPath: backup, toPath: cli.folder.appending(path: name).path)
        }
        try cli.succeed("erase", "jane", "--reason", "asked to", "--yes")
        let register = try cli.write(try cli.succeed("erasures", "export").output, as: "erasures.jsonl")
        let byStore = try cli.succeed("backup", "scrub", "one", "--from-store", cli.store)
        #expect(byStore.output.hasPrefix("Scrubbed one: 1 segment and "))
        try cli.succeed("backup", "scrub", "two", "--erasures", register)
        for name in ["one", "two"] {
            #expect(try cli.run("backup", "verify", name, "--absent", "canary-4711").status == 0, "\(name)")
        }
        let both = try cli.run("backup", "scrub", "one")
        #expect(both.status == 64 && both.errors.contains("Add --from-store or --erasures."))
    }

    @Test("An archive has the files, and is refused on a terminal")
    func archive() throws {
        let script = #""$0" backup - > backup.tar && mkdir unpacked && tar xf backup.tar -C unpacked"#
        let outcome = try cli.shell(script)
        #expect(outcome.status == 0 && outcome.errors.contains("Backed up 5 new events to standard output"))
        #expect(try cli.succeed("backup", "verify", "unpacked").output.hasPrefix("Sound: 5 events"))
    }

    @Test("Damage ends with 2 and the name of the file; the backup stays as it is")
    func damage() throws {
        try cli.succeed("backup", backup)
        let file = "\(backup)/names.seg"
        var data = try #require(FileManager.default.contents(atPath: file))
        data[data.count / 2] ^= 1
        try data.write(to: URL(filePath: file))
        let outcome = try cli.run("backup", "verify", backup)
        #expect(outcome.status == 2 && outcome.output.contains("\(file) is damaged"))
        let json = try cli.run("backup", "verify", backup, "--format", "json")
        #expect(json.status == 2 && json.output.contains("\"sound\":false"))
        try FileManager.default.removeItem(atPath: "\(backup)/manifest.json")
        #expect(try cli.run("backup", "verify", backup).errors.contains("There is no backup in \(backup)."))
    }

    @Test("A wrong folder is refused with one sentence and the next step, and nothing is changed")
    func refusals() throws {
        try cli.succeed("backup", backup)
        let before = try contents()
        let inside = try cli.run("backup", cli.store + "/backup")
        #expect(inside.status == 1 && inside.errors.contains("is the folder of the store, or inside it"))
        let other = cli.folder.appending(path: "other").path
        try cli.succeed("log", "event", "jane", "played", "--store", other)
        let foreign = try cli.run("backup", backup, "--store", other)
        #expect(foreign.status == 1 && foreign.errors.contains("has the backup of another store"))
        #expect(foreign.errors.contains("Name the folder of this store's backup, or a new one."))
        let missing = try cli.run("backup", backup, "--store", "nothing")
        #expect(missing.status == 1 && missing.errors.contains("There is no ProfileLog store"))
        #expect(try contents() == before)
        try FileManager.default.createDirectory(
            at: cli.folder.appending(path: "notes"), withIntermediateDirectories: true)
        _ = try cli.write("x", as: "notes/notes.txt")
        #expect(try cli.run("backup", "notes").errors.contains("another program's file notes.txt"))
        #expect(try cli.run("backup").status == 64)
    }

    @Test("Keys of the service are kept with the log, as hashes")
    func keys() throws {
        _ = try cli.write(#"{"format":1,"keys":[]}"#, as: "store/keys.json")
        try cli.succeed("backup", backup)
        #expect(try contents()["settings/keys.json"] == Data(#"{"format":1,"keys":[]}"#.utf8))
        #expect(try cli.succeed("backup", "list", backup).output.contains("settings/keys.json"))
    }

    @Test("The settings that are named are kept, listed with their files, and put next to a restored store")
    func settings() throws {
        let keys = try cli.write(#"{"format":1,"keys":[]}"#, as: "hashes.json")
        let config = try cli.write("# of the shop\nport: 8080\n", as: "shop.yaml")
        let workspace = try cli.write("segments: []\n", as: "setup.yaml")
        try cli.succeed("backup", backup, "--keys", keys, "--config", config, "--workspace", workspace)
        // What is not named stays, and what is changed gets another file.
        _ = try cli.write("# of the shop\nport: 8081\n", as: "shop.yaml")
        try cli.succeed("backup", backup, "--config", config)
        let files = try contents()
        #expect(files["settings/keys.json"] == Data(#"{"format":1,"keys":[]}"#.utf8))
        #expect(files["settings/profiled.g1.yaml"] == Data("# of the shop\nport: 8081\n".utf8))
        #expect(files["settings/profiled.yaml"] == nil)
        #expect(files["settings/workspace.yaml"] == Data("segments: []\n".utf8))
        let list = try cli.succeed("backup", "list", backup)
        let line = "settings/keys.json, settings/profiled.g1.yaml, settings/workspace.yaml"
        #expect(list.lines.contains { $0.hasPrefix("settings") && $0.hasSuffix(line) }, "\(list)")
        let json = try cli.succeed("backup", "list", backup, "--format", "json").output
        #expect(json.contains(#"{"name":"profiled.yaml","file":"settings/profiled.g1.yaml","bytes":25}"#), "\(json)")
        #expect(try cli.succeed("backup", "verify", backup).output.hasPrefix("Sound: 5 events"))
        let tried = try cli.succeed("restore", backup, "--store", "again", "--dry-run")
        #expect(tried.output.contains("Settings that come with it: keys.json, profiled.yaml, workspace.yaml."))
        let restored = try cli.succeed("restore", backup, "--store", "again")
        #expect(restored.output.contains("Settings, in again: keys.json, profiled.yaml, workspace.yaml."))
        #expect(restored.output.contains("copy profiled.yaml and workspace.yaml to where the service reads them"))
        let path = cli.folder.appending(path: "again/profiled.yaml").path
        #expect(FileManager.default.contents(atPath: path) == Data("# of the shop\nport: 8081\n".utf8))
    }

    @Test("A file that is no setting, as a key itself, is refused, and the backup stays as it is")
    func noSettings() throws {
        try cli.succeed("backup", backup)
        let before = try contents()
        let pem = "-----BEGIN PRIVATE KEY-----\nMIGHAgEAMBMGByqGSM49\n-----END PRIVATE KEY-----\n"
        let (tlsKey, key) = (try cli.write(pem, as: "key.pem"), try cli.write("plk_secret\n", as: "key"))
        for (option, file, words) in [
            ("--config", tlsKey, "is no configuration of a service"), ("--config", key, "is no configuration"),
            ("--config", "nothing.yaml", "cannot be read"), ("--keys", key, "is no file of keys"),
            ("--keys", tlsKey, "is no file of keys"), ("--keys", "nothing.json", "cannot be read"),
        ] {
            let outcome = try cli.run("backup", backup, option, file)
            #expect(outcome.status == 64 && outcome.errors.contains(words), "\(option) \(file): \(outcome)")
            // The reason, and the next step, without a word of the file.
            #expect(outcome.errors.contains(option), "\(outcome.errors)")
            #expect(!outcome.errors.contains("MIGH") && !outcome.errors.contains("secret"), "\(outcome.errors)")
        }
        #expect(try contents() == before)
    }
}
