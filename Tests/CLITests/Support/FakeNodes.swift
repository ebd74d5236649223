import Foundation
import TestSupport
import Testing

/// Nodes of a cluster that answer what a test says: one small server with a port for each.
final class FakeNodes: Sendable {
    private let process: ChildProcess
    private let folder: URL
    let names: [String]
    private let urls: [String: String]

    /// Each request is answered by the file NODE.json: an object whose keys are like `GET /v1/cluster`, and whose values
    /// are a status and a body. NODE.asked has what was asked.
    private static let server = #"""
        import http.server, json, os, sys, threading
        folder, names = sys.argv[1], sys.argv[2:]
        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = 'HTTP/1.1'
            def log_message(self, *words): pass
            def do_GET(self):
                self.rfile.read(int(self.headers.get('Content-Length') or 0))
                name = self.server.node
                with open(f'{folder}/{name}.asked', 'a') as asked: asked.write(f'{self.command} {self.path}\n')
                with open(f'{folder}/{name}.json') as file: answers = json.load(file)
                key = f'{self.command} {self.path.split("?")[0]}'
                status, body = answers.get(key, [404, {'error': 'There is no such node.', 'remedy': 'None.'}])
                body = json.dumps(body).encode()
                self.send_response(status)
                self.send_header('Content-Length', str(len(body)))
                self.send_header('X-ProfileLog-Node', name)
                self.end_headers()
                self.wfile.write(body)
            do_POST = do_GET
        ports = {}
        for name in names:
            server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
            server.node = name
            ports[name] = server.server_address[1]
            threading.Thread(target=server.serve_forever, daemon=True).start()
        with open(f'{folder}/ports.new', 'w') as file: json.dump(ports, file)
        os.rename(f'{folder}/ports.new', f'{folder}/ports')
        threading.Event().wait()
        """#

    init(_ cli: CLI, _ names: String...) throws {
        self.names = names
        folder = cli.folder.appending(path: "nodes")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let script = folder.appending(path: "server.py")
        try Data(Self.server.utf8).write(to: script)
        for name in names { try Data("{}".utf8).write(to: folder.appending(path: "\(name).json")) }
        process = try ChildProcess(URL(filePath: "/usr/bin/env"), ["python3", script.path, folder.path] + names)
        let file = folder.appending(path: "ports")
        while process.end == nil, !FileManager.default.fileExists(atPath: file.path) { usleep(10_000) }
        urls = try JSONDecoder().decode([String: Int].self, from: Data(contentsOf: file)).mapValues {
            "http://127.0.0.1:\($0)"
        }
    }

    deinit {
        process.signal(SIGKILL)
        process.waitForEnd()
    }

    func url(_ name: String) -> String { urls[name] ?? "" }

    /// Lets node `name` answer `answers`: bodies, as JSON, by a method and a path.
    func set(_ name: String, _ answers: [String: String], status: Int = 200) throws {
        let members = answers.map { #""\#($0)":[\#(status),\#($1)]"# }.joined(separator: ",")
        let file = folder.appending(path: "\(name).json")
        try Data("{\(members)}".utf8).write(to: file, options: .atomic)
    }

    /// The requests that node `name` got, in order.
    func asked(_ name: String) -> [String] {
        let text = try? String(contentsOf: folder.appending(path: "\(name).asked"), encoding: .utf8)
        return (text ?? "").split(separator: "\n").map(String.init)
    }

    // MARK: - Answers

    /// A node as an answer has it.
    func node(
        _ name: String, position: Int = 120, sequence: Int = 40, age: Double = 0.1, refusal: String? = nil,
        broker: String? = "n1:4222", isWriter: Bool = false
    ) -> String {
        func text(_ value: String?) -> String { value.map { "\"\($0)\"" } ?? "null" }
        return """
            {"name":"\(name)","instance":"\(name)1","url":"\(url(name))","sequence":\(sequence),"position":\(position),\
            "is_writer":\(isWriter),"writable":\(refusal == nil),\
            \(refusal.map { "\"refusal\":\"\($0)\"," } ?? "")"broker":\(text(broker)),"version":"1.0.0","age_s":\(age)}
            """
    }

    /// The state of a sound cluster as `name` tells it; `nodes` replaces the others, `more` members.
    func state(of name: String, position: Int = 120, nodes: [String]? = nil, _ more: [String: String] = [:]) -> String {
        let own = node(name, position: position, age: 0, isWriter: name == names[0])
        let others = names.filter { $0 != name }.map { node($0, position: position, isWriter: $0 == names[0]) }
        let all = [own] + (nodes ?? others)
        var members: [String: String] = [
            "cluster": #""shop""#, "node": own, "nodes": "[" + all.joined(separator: ",") + "]",
            "writer": #""\#(names[0])""#, "writes_here": "true", "writable": "true", "warnings": "[]",
            "lag_s": "0.004", "missing": "0",
            "stream": """
            {"created":"2026-01-31T10:00:00Z","first":1,"last":40,"max_age_s":604800,"leader":"n1",\
            "followers":[{"name":"n2","current":true},{"name":"n3","current":true}],"faults":[]}
            """,
            "last_failover": #"{"ended":"2026-01-31T11:00:00Z","length_s":6.2,"node":"b"}"#, "undecided": "false",
            "counts": #"{"published":40,"applied":0,"decisions_again":0,"undecided":0,"broker_changes":0}"#,
        ]
        members.merge(more) { $1 }
        return "{\(members.map { "\"\($0)\":\($1)" }.joined(separator: ","))}"
    }

    /// Hashes as a node gives them.
    func digest(log: String = "a1", names: String = "b2", meta: String = "c3", erasures: Int = 0) -> String {
        """
        {"sequence":40,"batch":"d4","last_position":120,"from":1,"position":120,"log":"\(log)","names":"\(names)",\
        "name_count":3,"meta":"\(meta)","rewrites":\(erasures),"name_erasures":0}
        """
    }

    /// Lets all nodes answer as those of a sound cluster.
    func setSound(position: Int = 120) throws {
        for name in names {
            try set(
                name,
                [
                    "GET /v1/cluster": state(of: name, position: position), "GET /v1/cluster/digest": digest(),
                    "POST /v1/cluster/rebuild": state(of: name, ["rebuilt": "true"]),
                    "POST /v1/cluster/stream": state(of: name),
                ])
        }
    }
}
