import Foundation
import ProfileLog
import TestSupport
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("With --url")
struct RemoteTests {
    /// A `profiled` on a free port, ended with this.
    final class Service {
        let url: String
        /// Has `profilecli` ask the service.
        var environment: [String: String] { ["PROFILELOG_URL": url, "PROFILELOG_STORE": ""] }
        private let process: ChildProcess
        private let errors: URL
        /// The text of its standard error.
        var log: String { (try? String(contentsOf: errors, encoding: .utf8)) ?? "" }

        init(_ cli: CLI, _ arguments: String...) throws {
            let portFile = cli.folder.appending(path: "port")
            let store = arguments.contains("--ephemeral") ? [] : ["--store", cli.store]
            errors = cli.folder.appending(path: "\(UUID().uuidString).log")
            process = try ChildProcess(
                ChildProcess.built("profiled"), store + ["--port", "0", "--port-file", portFile.path] + arguments,
                output: .nothing, errors: .file(errors))
            var port = ""
            while port.isEmpty, process.end == nil {
                usleep(25_000)
                port = (try? String(contentsOf: portFile, encoding: .utf8))?.filter(\.isNumber) ?? ""
            }
            try #require(!port.isEmpty, "profiled did not start")
            url = "http://127.0.0.1:\(port)"
        }

        /// Asks the service to end, and gives its exit status.
        func end() -> Int32 {
            process.signal(SIGTERM)
            return process.waitForEnd()
        }

        deinit {
            process.signal(SIGKILL)
            process.waitForEnd()
        }
    }

    @Test("stats --audit says up to where the store is proven, and how long that took", .timeLimit(.minutes(3)))
    func audit() throws {
        let cli = try CLI()
        try cli.succeed("log", "event", "jane", "played")
        let service = try Service(cli)
        var output = ""
        while !output.hasPrefix("Proven") {
            usleep(25_000)
            output = try cli.run(["stats", "--audit"], environment: service.environment).output
        }
        #expect(output.contains(/^Proven up to position 2 at .*Z: 0 differences\. The round took [0-9]+ s\.\n$/))
        #expect(service.end() == 0)
    }

    @Test(
        "tail shows all of a new log, even if it is longer than what was seen",
        .timeLimit(.minutes(3)))
    func reset() throws {
        let cli = try CLI()
        let service = try Service(cli, "--ephemeral")
        let port = service.url.split(separator: ":").last ?? ""
        let outcome = try cli.shell(
            """
            store() { for name in "$@"; do "$program" log event jane $name > other; done; }
            seen() { for turn in {1..900}; do grep -q "$1" seen && break; sleep 0.05; done; }
            program="$0"
            store old-1 old-2
            "$program" tail --format json > seen 2> said & tail=$!
            seen old-2
            exec 3<> /dev/tcp/127.0.0.1/\(port)
            printf 'POST /v1/reset HTTP/1.1\\r\\nHost: localhost\\r\\nContent-Length: 2\\r\\nConnection: \
            close\\r\\n\\r\\n{}' >&3
            cat <&3 > other
            store new-1 new-2 new-3 new-4
            seen new-4
            kill $tail; wait $tail 2> other
            cat seen; cat said >&2
            """, environment: service.environment)
        let names = outcome.lines.compactMap { $0.firstMatch(of: /(?:old|new)-\d/)?.output }
        #expect(names == ["old-1", "old-2", "new-1", "new-2", "new-3", "new-4"], "\(outcome.output)")
        #expect(outcome.errors.contains("has begun a new log"), "\(outcome.errors)")
    }

    @Test("An import says what is stored when the service dies in the middle", .timeLimit(.minutes(3)))
    func dyingService() throws {
        let cli = try CLI()
        try cli.succeed("generate", "--events", "2500", "-o", "events.jsonl")
        let service = try Service(cli)
        let script = """
            mkfifo pipe
            "$0" import pipe --name n 2> said & import=$!
            exec 4> pipe
            head -n 1200 events.jsonl >&4
            while "$0" stats > other 2> other; do sleep 0.05; done
            tail -n +1201 events.jsonl >&4
            exec 4>&-
            wait $import
            """
        let run = try ChildProcess(
            URL(filePath: "/bin/bash"), ["-c", script, CLI.program.path], in: cli.folder,
            environment: service.environment.merging(["PATH": "/usr/bin:/bin"]) { $1 }, output: .nothing,
            errors: .nothing)
        // The first chunk has 1,000 lines.
        let log = try EventLog(path: cli.store)
        while try log.lastPosition().rawValue < 1_000, run.end == nil { usleep(25_000) }
        #expect(service.end() == 0)
        let status = run.waitForEnd()
        let errors = try String(contentsOf: cli.folder.appending(path: "said"), encoding: .utf8)
        #expect(status == 1, "\(errors)")
        #expect(errors.contains("Error: Lines from 1001 of pipe: "), "\(errors)")
        #expect(errors.contains("1,000 events before it are stored."), "\(errors)")
        #expect(errors.contains("run the same command again: what is stored is skipped."), "\(errors)")
    }

    @Test("An export ends when the service begins a new log")
    func exportDuringReset() throws {
        let cli = try CLI()
        try cli.succeed("generate", "--events", "15000", "-o", "facts.jsonl")
        let facts = cli.folder.appending(path: "facts.jsonl").path
        let service = try Service(cli, "--ephemeral", "--fixtures", facts)
        let port = service.url.split(separator: ":").last ?? ""
        // The first page is more than a pipe holds: the second is not requested before the first is read.
        let outcome = try cli.shell(
            """
            mkfifo pipe
            "$0" export > pipe 2> said & export=$!
            exec 4< pipe
            head -c 1 <&4 > other
            exec 3<> /dev/tcp/127.0.0.1/\(port)
            printf 'POST /v1/reset HTTP/1.1\\r\\nHost: localhost\\r\\nContent-Length: 17\\r\\nConnection: \
            close\\r\\n\\r\\n' >&3
            printf '{"fixtures":true}' >&3
            cat <&3
            cat <&4 > other
            wait $export; code=$?
            cat said >&2; exit $code
            """, environment: service.environment)
        #expect(outcome.output.contains(#""reset":true"#), "\(outcome.output)")
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains("The service began a new log during the export"), "\(outcome.errors)")
    }

    @Test("What a 201 refused is listed, from the service as from the store")
    func leftOut() async throws {
        let cli = try CLI()
        let service = try Service(cli)
        var request = URLRequest(url: try #require(URL(string: service.url + "/users/track")))
        request.httpMethod = "POST"
        let body =
            #"{"attributes":[{"external_id":"ana","shoe":38,"gender":"X"}],"#
            + #""events":[{"external_id":"ana","name":"e"}]}"#
        request.httpBody = Data(body.utf8)
        let (_, response) = try await URLSession.shared.data(for: request)
        #expect((response as? HTTPURLResponse)?.statusCode == 201)
        let table = try cli.run(["rejected"], environment: service.environment)
        #expect(table.status == 0, "\(table.errors)")
        for piece in ["INPUT ARRAY", "events", "'time' is required", "gender", "2 parts of requests refused."] {
            #expect(table.output.contains(piece), "\(piece) is missing in \(table.output)")
        }
        let lines = try cli.run(["rejected", "--user", "ana", "--format", "json"], environment: service.environment)
            .output
        #expect(lines.split(separator: "\n").count == 2)
        #expect(lines.contains(#""field":"gender""#))
        #expect(service.end() == 0)
        #expect(try cli.run(["rejected"]).output.contains("'time' is required"))
        #expect(try cli.run(["rejected", "--user", "ana", "--format", "json"]).output == lines)
        #expect(try cli.run(["history", "ana"]).output.contains("events[0]: 'time' is required"))
    }

    @Test("The service answers as the store does, refusals and exit statuses included")
    func same() throws {
        let cli = try CLI()
        let service = try Service(cli)
        let writes = [
            ["save", "event", "花子", "お茶を飲んだ", "-p", "種類=煎茶", "--device", "電話"],
            ["save", "attribute", "a+b&c=d/é", "n=1"], ["log", "event", "jane", "a", "--key", "k"],
            ["log", "purchase", "jane", "p", "--price", "1.5", "--currency", "EUR"], ["launch"],
            ["change-user", "ana", "--device", "d9"], ["launch", "電話"],
        ]
        for write in writes {
            let outcome = try cli.run(write, environment: service.environment)
            #expect(outcome.status == 0, "\(write): \(outcome.errors)")
            #expect(outcome.output.contains("Next: profilecli"))
        }
        let questions = [
            ["profile", "花子", "--include-pending"], ["profile", "a+b&c=d/é"], ["history", "jane"],
            ["history", "jane", "--kind", "purchaseLogged"], ["users"], ["tail", "--no-follow"], ["stats"],
            ["profile", "nobody"], ["profile", "jane", "--as-of", "999"], ["history", "jane", "--from", "0"],
            ["log", "event", "jane", "b", "--key", "k"], ["log", "event", "jane", "b", "--expect", "9"],
            ["log", "event", "jane", ""], ["launch", "--only", "dances"], ["pending", "--device", "nowhere"],
        ]
        for (index, question) in questions.enumerated() {
            let formats = ["table", "json"]
            for format in Thoroughness.isFull ? formats : [formats[index % 2]] {
                let arguments = question + ["--format", format]
                let remote = try cli.run(arguments, environment: service.environment)
                let local = try cli.run(arguments)
                #expect(remote.output == local.output, "\(question)")
                #expect(remote.errors == local.errors, "\(question)")
                #expect(remote.status == local.status, "\(question)")
            }
        }
        #expect(try cli.run(["export"], environment: service.environment).output == cli.run("export").output)
        #expect(try cli.run(["import", "-"], input: "{}", environment: service.environment).status == 1)
        #expect(service.end() == 0)
        #expect(try cli.succeed("check").output.hasPrefix("Sound"))
    }

    @Test("A service with keys is spoken to with the one in PROFILELOG_KEY")
    func key() throws {
        let cli = try CLI()
        let profiled = ChildProcess.built("profiled")
        let added = try cli.run(
            ["keys", "add", "--name", "test", "--permissions", "all", "--store", cli.store], command: profiled)
        let key = added.output.split(whereSeparator: \.isWhitespace).first { $0.hasPrefix("plk_") }
        let service = try Service(cli)
        let refused = try cli.run(["log", "event", "jane", "a"], environment: service.environment)
        #expect(refused.status == 1 && refused.errors.contains("PROFILELOG_KEY"), "\(refused.errors)")
        let known = service.environment.merging(["PROFILELOG_KEY": String(try #require(key))]) { $1 }
        #expect(try cli.run(["log", "event", "jane", "a"], environment: known).status == 0)
        #expect(service.end() == 0)
    }
}
