import Foundation
import TestSupport
import Testing

@Suite("A copy of a store is not more open than the store")
struct CopiedKeysTests {
    private func mode(_ path: String) throws -> Int {
        try #require(FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
    }

    private func addKey(_ cli: CLI) throws {
        let made = try cli.run(
            ["keys", "add", "--store", cli.store, "--name", "app"], command: ChildProcess.built("profiled"))
        #expect(made.status == 0, "\(made.errors)")
    }

    @Test("replay --into takes the keys along, for their owner alone")
    func keys() throws {
        let cli = try CLI()
        try cli.succeed("log", "event", "jane", "a")
        try addKey(cli)
        let keys = cli.store + "/keys.json"
        // Whatever the original allows.
        #expect(chmod(keys, 0o644) == 0)
        let outcome = try cli.succeed("replay", "--into", "copy")
        #expect(outcome.output.contains("with the keys of this one"), "\(outcome.output)")
        let copy = cli.folder.appending(path: "copy").path
        for name in ["keys.json", "data.mdb", "lock.mdb"] { #expect(try mode("\(copy)/\(name)") == 0o600, "\(name)") }
        #expect(try mode(copy) == 0o700)
        #expect(FileManager.default.contents(atPath: copy + "/keys.json") == FileManager.default.contents(atPath: keys))
        // Again, and over keys that are there.
        try Data("{}".utf8).write(to: URL(filePath: copy + "/keys.json"))
        try cli.succeed("replay", "--into", "copy", "--format", "json")
        #expect(FileManager.default.contents(atPath: copy + "/keys.json") == Data("{}".utf8))
        try cli.succeed("compact")
        #expect(FileManager.default.fileExists(atPath: keys))
    }

    @Test("A copy without the keys says so, and no service lets other machines reach it")
    func withoutKeys() throws {
        let cli = try CLI()
        try cli.succeed("log", "event", "jane", "a")
        try addKey(cli)
        try FileManager.default.removeItem(atPath: cli.store + "/keys.json")
        let outcome = try cli.succeed("replay", "--into", "copy")
        #expect(outcome.errors.contains("the copy has none"), "\(outcome.errors)")
        for store in [cli.store, cli.folder.appending(path: "copy").path] {
            for (arguments, word) in [
                (["--base-url", "https://p.example"], "--base-url"), (["--host", "0.0.0.0"], "there are no keys"),
            ] {
                let refused = try cli.run(
                    ["--store", store, "--port", "0"] + arguments, command: ChildProcess.built("profiled"))
                #expect(refused.status == 1 && refused.errors.contains(word), "\(refused.errors)")
                #expect(refused.errors.contains("profiled keys add"), "\(refused.errors)")
            }
            let served = try cli.run(
                [
                    "-c",
                    """
                    "$0" --store "$1" --port 0 --port-file port & process=$!
                    until [ -s port ]; do sleep 0.05; done
                    kill $process; wait $process
                    """, ChildProcess.built("profiled").path, store,
                ], command: URL(filePath: "/bin/bash"))
            #expect(served.status == 0 && served.errors.contains("needed keys; here it has none"), "\(served.errors)")
        }
    }
}
