import Foundation
import ProfileLog
import ProfileLogBackup
import ProfileLogRequests
import TestSupport
import Testing

/// The settings of `profiled`: where they come from, and what is said of those that are wrong.
@Suite("Configuration")
struct ConfigurationTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder.made(prefix: "config") }

    private func write(_ yaml: String, to name: String = "profiled.yaml") throws {
        try yaml.write(to: folder.file(name), atomically: true, encoding: .utf8)
    }

    /// The lines of `config show --json`, by key.
    private func shown(
        _ arguments: [String], environment: [String: String] = [:]
    ) async throws -> [String: AttributeValue] {
        let outcome = try await run(
            ["config", "show", "--json"] + arguments, in: folder, environment: environment)
        #expect(outcome.code == 0, "\(outcome.errors)")
        var lines: [String: AttributeValue] = [:]
        for line in outcome.output.split(separator: "\n") {
            let object = try JSON.parse(Array(line.utf8))
            guard case .string(let key) = object.at("key") else { continue }
            lines[key] = object
        }
        return lines
    }

    // MARK: - Where a value comes from

    @Test("A flag has more weight than the environment, that more than the file, and the file more than a default")
    func weight() async throws {
        try write("port: 1\nlimits:\n  streams: 5\n  connections: 6\nlog:\n  level: info\n")
        let lines = try await shown(
            ["--config", "profiled.yaml", "--port", "3"],
            environment: ["PROFILED_PORT": "2", "PROFILED_MAX_STREAMS": "7", "PROFILED_LOG_FORMAT": ""])
        for (key, value, from) in [
            ("port", AttributeValue.int(3), "flag"), ("limits.streams", .int(7), "environment"),
            ("limits.connections", .int(6), "file"), ("log.level", .string("info"), "file"),
            ("log.format", .string("text"), "default"), ("timeouts.idle", .int(60), "default"),
        ] {
            let line = try #require(lines[key])
            #expect(line.at("value") == value && line.at("from") == .string(from), "\(line.json)")
        }
        #expect(lines["limits.connections"]?.at("line") == 4)
        #expect(lines["limits.connections"]?.at("file") == "profiled.yaml")
    }

    @Test("Each kind of value can be written in the file and in the environment")
    func kinds() async throws {
        try write(
            """
            base-url: https://profiles.example/braze
            ephemeral: true
            rate-limits:
              - 3/1
              - /users/export/ids=250/60
            timeouts:
              idle: 5m
              read: "90s"
            """)
        let byFile = try await shown(["--config", "profiled.yaml"])
        let environment = [
            "PROFILED_BASE_URL": "https://profiles.example/braze", "PROFILED_EPHEMERAL": "true",
            "PROFILED_RATE_LIMIT": "3/1 /users/export/ids=250/60", "PROFILED_IDLE_TIMEOUT": "5m",
            "PROFILED_READ_TIMEOUT": "90",
        ]
        let byEnvironment = try await shown(["--config", "/dev/null"], environment: environment)
        for (key, value) in [
            ("base-url", AttributeValue.string("https://profiles.example/braze")), ("ephemeral", .bool(true)),
            ("rate-limits", .array(["3/1", "/users/export/ids=250/60"])), ("timeouts.idle", .int(300)),
            ("timeouts.read", .int(90)),
        ] {
            #expect(byFile[key]?.at("value") == value, "\(key)")
            #expect(byEnvironment[key]?.at("value") == value, "\(key)")
        }
    }

    @Test("The file is that of --config, else that of the environment")
    func file() async throws {
        try write("port: 1", to: "one.yaml")
        try write("port: 2", to: "two.yaml")
        let environment = ["PROFILED_CONFIG": "one.yaml"]
        #expect(try await shown([], environment: environment)["port"]?.at("value") == 1)
        #expect(try await shown(["--config", "two.yaml"], environment: environment)["port"]?.at("value") == 2)
        for arguments in [["--config", "three.yaml"], ["--config", "."]] {
            let refused = try await run(["config", "show"] + arguments, in: folder)
            #expect(refused.code == 1 && refused.output.isEmpty)
            #expect(refused.errors.contains("cannot be read"), "\(refused.errors)")
        }
    }

    @Test("The table of config show names flag, variable, file and line")
    func table() async throws {
        try write("limits:\n  streams: 5\n")
        let outcome = try await run(
            ["config", "show", "--config", "profiled.yaml", "--host", "127.0.0.2"], in: folder,
            environment: ["PROFILED_MAX_CONNECTIONS": "9"])
        #expect(outcome.code == 0)
        let rows = outcome.output.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
        #expect(rows.first == ["KEY", "RELOAD", "FROM", "VALUE"])
        for row in [
            ["host", "no", "--host", "127.0.0.2"], ["limits.streams", "yes", "profiled.yaml:2", "5"],
            ["limits.connections", "yes", "$PROFILED_MAX_CONNECTIONS", "9"], ["port", "no", "default", "8080"],
        ] {
            #expect(rows.contains(row), "\(outcome.output)")
        }
        #expect(outcome.errors.contains("The file profiled.yaml was read."))
    }

    @Test("profiled keys finds the store and the file of keys by the configuration")
    func keys() async throws {
        try write("store: from-file\n")
        let added = try await run(["keys", "add", "--config", "profiled.yaml", "--name", "app"], in: folder)
        #expect(added.code == 0, "\(added.errors)")
        #expect(FileManager.default.fileExists(atPath: folder.file("from-file/keys.json").path))
        let listed = try await run(
            ["keys", "list"], in: folder, environment: ["PROFILED_CONFIG": "profiled.yaml"])
        #expect(listed.output.contains("app"), "\(listed.errors)")
        try write("keys: other.json\n")
        let other = try await run(["keys", "add", "--config", "profiled.yaml", "--name", "app"], in: folder)
        #expect(other.code == 0, "\(other.errors)")
        #expect(FileManager.default.fileExists(atPath: folder.file("other.json").path))
    }

    @Test("The file of the package can be read")
    func packaged() async throws {
        let lines = try await shown(["--config", Repository.file("packaging/profiled.yaml").path])
        #expect(lines["store"]?.at("value") == "/var/lib/profilelog")
        #expect(lines["store"]?.at("from") == "file")
    }

    // MARK: - What is wrong

    @Test("Each error of the file has its line and column, and config check tells all of them at once")
    func errors() async throws {
        try write(
            """
            port: 70000
            limits:
              conections: 5
              streams: many
            log:
              level: loud
            max-connections: 5
            certificate-file: x
            rate-limits:
              - 3/1
              - /nothing=1/1
            timeouts: 5
            store: [a, b]
            ephemeral: perhaps
            host:
            """)
        let refused = try await run(["config", "check", "--config", "profiled.yaml"], in: folder)
        #expect(refused.code == 1 && refused.output.isEmpty)
        for part in [
            "line 1, column 7: `port` must be a whole number from 0 to 65535.",
            "line 3, column 3: `limits.conections` is not known.\nDid you mean `connections`?",
            "line 4, column 12: `limits.streams` must be a whole number from 1 to 86400.",
            "line 6, column 10: `log.level` must be one of trace, debug,",
            "line 7, column 1: `max-connections` is not known.\nDid you mean `limits.connections`?",
            "line 8, column 1: `certificate-file` is not known.\n",
            "line 11, column 5: `rate-limits[1]` must be REQUESTS/SECONDS",
            "line 12, column 11: `timeouts` must be a mapping.",
            "line 13, column 8: `store` must be text.",
            "line 14, column 12: `ephemeral` must be true or false.",
            "line 15, column ",
        ] {
            #expect(refused.errors.contains(part), "\(part)\n\(refused.errors)")
        }
        let start = try await run(["--config", "profiled.yaml", "--store", "s", "--port", "0"], in: folder)
        #expect(start.code == 1)
        #expect(start.errors.contains("line 1, column 7") && start.errors.contains("There are 10 other errors"))
        #expect(!FileManager.default.fileExists(atPath: folder.file("s").path))
    }

    @Test(
        "A file that is no YAML, has a key twice, or an anchor, is refused with the place",
        arguments: [
            ("port: 1\nhost: a: b\n", "line 2, column "), ("port: 1\nport: 2\n", "is given twice"),
            ("port: &p 1\n", "has an anchor"), ("- port\n", "must be a mapping"),
        ])
    func notRead(yaml: String, part: String) async throws {
        try write(yaml)
        let refused = try await run(["config", "check", "--config", "profiled.yaml"], in: folder)
        #expect(refused.code == 1)
        #expect(refused.errors.contains(part) && refused.errors.contains("line "), "\(refused.errors)")
    }

    @Test(
        "A file without content, or with comments alone, gives each setting its default",
        arguments: ["", "# nothing\n", "limits:\n  # connections: 5\n"])
    func empty(yaml: String) async throws {
        try write(yaml)
        let lines = try await shown(["--config", "profiled.yaml"])
        #expect(lines["limits.connections"]?.at("from") == "default")
    }

    @Test("A wrong variable is named, also the one that Kubernetes sets, and a slip of the pen is told")
    func variables() async throws {
        let refused = try await run(
            ["config", "check", "--config", "/dev/null"], in: folder,
            environment: ["PROFILED_PORT": "tcp://10.0.0.1:8080", "PROFILED_EPHEMERAL": "1"])
        #expect(refused.code == 1)
        #expect(refused.errors.contains("The variable PROFILED_PORT must be a whole number"), "\(refused.errors)")
        #expect(refused.errors.contains("enableServiceLinks"), "\(refused.errors)")
        #expect(refused.errors.contains("The variable PROFILED_EPHEMERAL must be true or false."))
        let noted = try await run(
            ["config", "check", "--config", "/dev/null"], in: folder,
            environment: ["PROFILED_HOTS": "x", "PROFILED_SERVICE_HOST": "10.0.0.1"])
        #expect(noted.code == 0)
        #expect(noted.errors.contains("The variable PROFILED_HOTS is not known, and PROFILED_HOST is."))
        #expect(!noted.errors.contains("SERVICE"))
    }

    @Test("config check looks at what the settings name, and changes nothing")
    func named() async throws {
        try write(
            """
            store: s
            expect-store: true
            host: 0.0.0.0
            workspace: none.yaml
            console: .
            port-file: nowhere/port
            backup:
              folder: nowhere/backup
            """)
        let refused = try await run(["config", "check", "--config", "profiled.yaml"], in: folder)
        #expect(refused.code == 1)
        for part in [
            "There is no store in s", "nowhere/backup, which backup.folder names, cannot be written",
            "Other machines could reach 0.0.0.0", "The workspace file none.yaml cannot be read", "index.html",
            "nowhere/port, which port-file names, cannot be written",
        ] {
            #expect(refused.errors.contains(part), "\(part)\n\(refused.errors)")
        }
        try write("store: s\nport-file: port\n", to: "good.yaml")
        let good = try await run(["config", "check", "--config", "good.yaml"], in: folder)
        #expect(good.code == 0, "\(good.errors)")
        #expect(good.output.contains("The configuration good.yaml is good: 2 of "), "\(good.output)")
        for name in ["s", "port"] { #expect(!FileManager.default.fileExists(atPath: folder.file(name).path)) }
    }

    @Test("config check refuses the folder of a backup that a run would refuse, and makes none")
    func backupFolders() async throws {
        #expect(try await run(["keys", "add", "--store", "s", "--name", "app"], in: folder).code == 0)
        let other = try folder.open("o")
        _ = try BackupRun(log: other, target: BackupFolder(path: folder("other"), store: other.path)).run()
        try FileManager.default.createDirectory(at: folder.file("foreign"), withIntermediateDirectories: false)
        try Data("x".utf8).write(to: folder.file("foreign/notes.txt"))
        func check(_ backup: String, expects: Bool = false) async throws -> (code: Int32?, errors: String) {
            try write("store: s\nbackup:\n  folder: \(backup)\n  expect: \(expects)\n")
            let outcome = try await run(["config", "check", "--config", "profiled.yaml"], in: folder)
            return (outcome.code, outcome.errors)
        }
        for (backup, part) in [
            ("s", "is the folder of the store, or inside it"), ("s/backup", "is the folder of the store, or inside it"),
            ("foreign", "another program's file notes.txt"), ("other", "has the backup of another store"),
        ] {
            let refused = try await check(backup)
            #expect(refused.code == 1 && refused.errors.contains(part), "\(backup): \(refused.errors)")
        }
        let missing = try await check("new", expects: true)
        #expect(missing.code == 1 && missing.errors.contains("The backup that is expected in new"), "\(missing.errors)")
        let good = try await check("new")
        #expect(good.code == 0, "\(good.errors)")
        for name in ["new", "s/backup"] {
            #expect(!FileManager.default.fileExists(atPath: folder.file(name).path))
        }
    }

    // MARK: - The table

    @Test("The help of profiled serve has each flag of the table with its default")
    func help() async throws {
        let help = try await run(["serve", "--help"], in: folder, environment: ["COLUMNS": "500"]).output
        let lines = try await shown(["--config", "/dev/null"])
        #expect(lines.count >= 21)
        for (key, line) in lines {
            guard case .string(let flag) = line.at("flag") else { continue }
            #expect(help.contains("  \(flag) "), "\(key)")
            if case .int(let number) = line.at("value") { #expect(help.contains("(default: \(number))"), "\(key)") }
        }
    }

    @Test("The page of the settings has what the table declares")
    func page() async throws {
        let border = "<!-- From here on the page is written by ConfigurationTests. -->\n"
        let text = try Repository.text("docs/configuration.md")
        let written = text.components(separatedBy: border)[0] + border
        let table = try await run(["config", "page"], in: folder).output
        if ProcessInfo.processInfo.environment["PROFILELOG_WRITE_DOCS"] != nil {
            try (written + table).write(
                to: Repository.file("docs/configuration.md"), atomically: true, encoding: .utf8)
        } else {
            #expect(
                text == written + table,
                "PROFILELOG_WRITE_DOCS=1 swift test --filter ConfigurationTests/page writes it.")
        }
    }
}
