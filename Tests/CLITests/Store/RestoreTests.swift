import Foundation
import ProfileLog
import TestSupport
import Testing

/// `profilecli restore`, with backups that `profilecli backup` made.
@Suite("profilecli restore")
struct RestoreTests {
    private let cli: CLI

    init() throws {
        cli = try CLI(after: [
            ["log", "event", "jane", "first"], ["log", "event", "jane", "second"], ["log", "event", "bo", "third"],
        ])
        try cli.succeed("backup", "copy")
    }

    private func path(_ name: String) -> String { cli.folder.appending(path: name).path }
    private func exists(_ name: String) -> Bool { FileManager.default.fileExists(atPath: path(name)) }

    private func text(_ value: AttributeValue?) -> String? {
        if case .string(let text)? = value { text } else { nil }
    }

    private func integer(_ value: AttributeValue?) -> Int64? {
        if case .int(let number)? = value { number } else { nil }
    }

    private func events(_ store: String) throws -> [String] { try cli.succeed("export", "--store", store).lines }

    @Test("A restored store has the events of the backup, and goes on with others")
    func whole() throws {
        let before = try events(cli.store)
        try cli.succeed("log", "event", "jane", "lost")
        let outcome = try cli.succeed("restore", "copy", "--store", "shop")
        #expect(outcome.output.hasPrefix("Restored 5 events up to position 5, recorded at "), "\(outcome.output)")
        #expect(outcome.output.contains("back the store up into a new folder"), "\(outcome.output)")
        #expect(outcome.errors.contains("--erasures names them"), "\(outcome.errors)")
        #expect(try events("shop") == before)
        #expect(try cli.succeed("check", "--store", "shop").output.hasPrefix("Sound"))
        try cli.succeed("log", "event", "jane", "other", "--store", "shop")
        let refused = try cli.run("backup", "copy", "--store", "shop")
        #expect(refused.status == 1, "\(refused.errors)")
        #expect(refused.errors.contains("continues another history of this store from position 6 on"))
        #expect(refused.errors.contains("Take a new folder"), "\(refused.errors)")
        try cli.succeed("backup", "copy-2", "--store", "shop")
        try cli.succeed("backup", "copy")
    }

    @Test("--to is a position or a time, and what the backup does not have is refused")
    func to() throws {
        let all = try events(cli.store)
        let positions = try all.map { try #require(integer(JSON.parse($0)["position"])) }
        func upTo(_ last: Int64) -> [String] { zip(all, positions).filter { $0.1 <= last }.map(\.0) }
        let line = try cli.succeed("restore", "copy", "--store", "a", "--to", "3", "--format", "json").lines[0]
        let answer = try JSON.parse(line)
        #expect(integer(answer["position"]) == 3 && answer["dry_run"] == .bool(false))
        #expect(try events("a") == upTo(3))
        // Events 1 and 2 are of one commit.
        let time = try #require(text(JSON.parse(all[0])["recorded_at"]))
        try cli.succeed("restore", "copy", "--store", "b", "--to", time)
        #expect(try events("b") == upTo(2))
        for (to, status, message) in [
            ("6", 1, "The backup ends at position 5"),
            ("yesterday", 1, "The first event of the backup was recorded at"),
            ("2099-01-01", 1, "The backup was made at"), ("soon", 64, "--to must be a position"),
            ("version:2", 64, "--to must be a position"),
        ] as [(String, Int32, String)] {
            let refused = try cli.run("restore", "copy", "--store", "c", "--to", to)
            #expect(refused.status == status && refused.errors.contains(message), "\(to): \(refused.errors)")
        }
        #expect(!exists("c") && !exists("c.restoring"))
    }

    @Test("--dry-run writes nothing, and finds what is damaged")
    func dryRun() throws {
        let before = try FileManager.default.subpathsOfDirectory(atPath: cli.folder.path).count
        let outcome = try cli.succeed("restore", "copy", "--store", "shop", "--dry-run")
        #expect(outcome.output.hasPrefix("Sound: 5 events up to position 5"), "\(outcome.output)")
        #expect(outcome.output.contains("Nothing was written."))
        // Each run of the tests leaves three files of its own.
        let after = try FileManager.default.subpathsOfDirectory(atPath: cli.folder.path).count
        #expect(after == before + 3)
        let segment = cli.folder.appending(path: "copy/log/00000001.seg")
        var bytes = try Data(contentsOf: segment)
        bytes[bytes.count / 2] ^= 1
        try bytes.write(to: segment)
        for arguments in [["--dry-run"], []] {
            let refused = try cli.run(["restore", "copy", "--store", "shop"] + arguments)
            #expect(refused.status == 2 && refused.errors.contains("00000001.seg is damaged"), "\(refused.errors)")
        }
        #expect(!exists("shop"))
    }

    @Test("A store is never overwritten; --replace moves it aside, unless a program has it open")
    func replace() throws {
        try cli.succeed("log", "event", "jane", "later")
        let before = try events(cli.store)
        let refused = try cli.run("restore", "copy")
        #expect(refused.status == 1 && refused.errors.contains("holds a store"), "\(refused.errors)")
        #expect(refused.errors.contains("--replace"), "\(refused.errors)")
        let log = try EventLog(path: cli.store)
        let inUse = try cli.run("restore", "copy", "--replace")
        #expect(inUse.status == 1 && inUse.errors.contains("A program has the store in"), "\(inUse.errors)")
        log.close()
        #expect(try events(cli.store) == before)

        let outcome = try cli.succeed("restore", "copy", "--replace", "--format", "json")
        let aside = try #require(text(JSON.parse(outcome.lines[0])["moved_aside"]))
        #expect(aside.hasPrefix(cli.store + ".before-"))
        #expect(try events(aside) == before)
        #expect(try events(cli.store) == Array(before.prefix(5)))
    }

    @Test("Persons who were erased after the backup stay erased with --erasures, and come back without")
    func erasures() throws {
        try FileManager.default.copyItem(atPath: path("copy"), toPath: path("old"))
        try cli.succeed("erase", "jane", "--reason", "test", "--yes")
        let register = try cli.succeed("erasures", "export").output
        #expect(!register.contains("jane"))
        _ = try cli.write(register, as: "erasures.jsonl")
        try cli.succeed("backup", "copy")
        for (index, file) in ["erasures.jsonl", "copy", "copy/manifest.json"].enumerated() {
            let store = "shop-\(index)"
            let outcome = try cli.succeed("restore", "old", "--store", store, "--to", "4", "--erasures", file)
            #expect(outcome.output.contains("Erased after the backup was made, and so here: 3 events of 1 user."))
            #expect(!outcome.errors.contains("are not known"), "\(outcome.errors)")
            #expect(try cli.run("profile", "jane", "--store", store).status == 1)
            let file = try Data(contentsOf: cli.folder.appending(path: "\(store)/data.mdb"))
            for word in ["jane", "first", "second"] { #expect(file.range(of: Data(word.utf8)) == nil, "\(word)") }
        }
        try cli.succeed("restore", "old", "--store", "without")
        try cli.succeed("profile", "jane", "--store", "without")
        let missing = try cli.run("restore", "old", "--store", "x", "--erasures", "nothing.jsonl")
        #expect(missing.status == 1 && missing.errors.contains("nothing.jsonl cannot be used"), "\(missing.errors)")
    }

    @Test("What is no backup, and what is no place for a store, is refused by name")
    func bad() throws {
        _ = try cli.write("text", as: "notes.txt")
        for (arguments, message) in [
            (["restore", "nothing", "--store", "shop"], "There is no backup in nothing."),
            (["restore", "store", "--store", "shop"], "There is no backup in store."),
            (["restore", "copy", "--store", "copy"], "are in the same place, or one is inside the other"),
            (["restore", "copy", "--store", "copy/shop"], "are in the same place, or one is inside the other"),
            (["restore", "copy", "--store", "."], "are in the same place, or one is inside the other"),
            (["restore", "copy", "--store", "no/such/folder"], "No such file or directory"),
            (["restore", "copy", "--store", "notes.txt"], "Not a directory"),
        ] {
            let refused = try cli.run(arguments)
            #expect(refused.status == 1 && refused.errors.contains(message), "\(arguments): \(refused.errors)")
        }
        #expect(!exists("shop") && !exists("copy.restoring") && !exists("notes.txt.restoring"))
        let remote = try cli.run("restore", "copy", "--url", "http://127.0.0.1:1")
        #expect(remote.status == 64)
    }

    // MARK: - Ends in the middle

    @Test("Killed at any write, a restore leaves no store, and the same command makes it")
    func killed() throws {
        let lines = try cli.succeed("generate", "--events", "1000", "--users", "100").output
        #expect(try cli.run("import", "-", input: lines).status == 0)
        try cli.succeed("backup", "copy")
        let expected = try events(cli.store)
        let faults = try Shim.faults()
        var kills = 0
        // Before each write of the store's file and each sync, until there are no more.
        for call in stride(from: 1, through: 2_000, by: Thoroughness.count(short: 9, full: 1)) {
            let outcome = try cli.run(
                ["restore", "copy", "--store", "shop"], environment: faults.environment(["FAULT": "kill:\(call)"]))
            if outcome.status == 0 { break }
            kills += 1
            #expect(!exists("shop"), "call \(call)")
            if exists("shop.restoring") {
                let refused = try cli.run("stats", "--store", "shop.restoring")
                #expect(refused.status == 1, "call \(call): \(refused.output)")
            }
        }
        #expect(kills > 2)
        #expect(try events("shop") == expected && !exists("shop.restoring"))
    }

    /// A shim that ends the program before its rename of the number in `KILL_RENAME`.
    private static let renames = """
        #define _GNU_SOURCE
        #include <dlfcn.h>
        #include <signal.h>
        #include <stdlib.h>
        #include <unistd.h>

        int rename(const char *from, const char *to) {
            static int calls;
            int (*real)(const char *, const char *) = dlsym(RTLD_NEXT, "rename");
            const char *number = getenv("KILL_RENAME");
            if (number && ++calls == atoi(number)) kill(getpid(), SIGKILL);
            return real(from, to);
        }
        """

    @Test("Killed between its renames, a restore that replaces a store has moved the old one aside, whole")
    func killedBetweenRenames() throws {
        try cli.succeed("log", "event", "jane", "later")
        let before = try events(cli.store)
        let shim = try Shim(Self.renames)
        for call in 1...2 {
            let killed = try cli.run(
                ["restore", "copy", "--replace"], environment: shim.environment(["KILL_RENAME": "\(call)"]))
            #expect(killed.status == -SIGKILL, "\(killed)")
            let names = try FileManager.default.contentsOfDirectory(atPath: cli.folder.path)
            let aside = names.filter { $0.hasPrefix("store.before-") }
            #expect(exists("store") == (call == 1) && aside.count == call - 1, "\(names)")
            #expect(try events(aside.first.map(path) ?? cli.store) == before)
        }
        try cli.succeed("restore", "copy", "--replace")
        #expect(try events(cli.store) == Array(before.prefix(5)) && !exists("store.restoring"))
    }

    @Test("On a full disk there is no store, and with space the same command makes it")
    func full() throws {
        let faults = try Shim.faults()
        var refused = 0
        for call in stride(from: 1, through: 25, by: 3) {
            let outcome = try cli.run(
                ["restore", "copy", "--store", "shop"],
                environment: faults.environment(["FAULT": "enospc-from:\(call)"]))
            if outcome.status == 0 {
                try FileManager.default.removeItem(atPath: path("shop"))
                continue
            }
            refused += 1
            #expect(outcome.status == 1 && outcome.errors.contains("is full"), "call \(call): \(outcome.errors)")
            #expect(outcome.errors.contains("shop") && !outcome.errors.contains("append"), "\(outcome.errors)")
            #expect(!exists("shop") && !exists("shop.restoring"), "call \(call)")
        }
        #expect(refused > 1)
        try cli.succeed("restore", "copy", "--store", "shop")
        #expect(try events("shop") == events(cli.store))
    }

    @Test("What root restores belongs to the owner of the folder", .enabled(if: geteuid() == 0))
    func owner() throws {
        let files = FileManager.default
        try files.createDirectory(atPath: path("shop"), withIntermediateDirectories: true)
        #expect(chown(path("shop"), 12_345, 12_345) == 0)
        try cli.succeed("restore", "copy", "--store", "shop")
        for name in ["shop", "shop/data.mdb", "shop/lock.mdb"] {
            #expect(try files.attributesOfItem(atPath: path(name))[.ownerAccountID] as? Int == 12_345, "\(name)")
        }
    }
}
