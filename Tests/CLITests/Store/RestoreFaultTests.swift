import Foundation
import TestSupport
import Testing

/// `profilecli restore` with the Nth call that changes the folder of the store, or what is next to it, failing or being
/// the program's last.
@Suite("A restore that dies, or has no space, leaves no part of a store")
struct RestoreFaultTests {
    private let cli: CLI

    /// A store that has an event more than its backup.
    init() throws {
        cli = try CLI(after: [["log", "event", "jane", "first"], ["log", "event", "bo", "second"]])
        _ = try cli.write(#"{"format":1,"keys":[]}"#, as: "store/keys.json")
        try cli.succeed("backup", "copy")
        try cli.succeed("log", "event", "jane", "later")
    }

    private func path(_ name: String) -> String { cli.folder.appending(path: name).path }
    private func events(_ name: String) throws -> [String] { try cli.succeed("export", "--store", name).lines }

    /// The folders whose names begin as that of the restored store.
    private func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: cli.folder.path).filter { $0.hasPrefix("shop") }.sorted()
    }

    @Test(
        "Killed or without space at any call, a restore leaves each store whole or none, and the same command makes it",
        arguments: ["kill", "enospc-from"], [false, true])
    func everyCall(fault: String, isReplaced: Bool) throws {
        let (shim, files) = (try Shim.faults(), FileManager.default)
        try cli.succeed("restore", "copy", "--store", "whole")
        let (old, restored) = (try events("store"), try events("whole"))
        try #require(old != restored)
        let arguments = ["restore", "copy", "--store", path("shop")] + (isReplaced ? ["--replace"] : [])
        var felt = 0
        let first = Thoroughness.count(short: isReplaced ? 3 : 6, full: 1)
        for call in stride(from: first, through: 500, by: Thoroughness.count(short: 9, full: 1)) {
            for name in try names() { try files.removeItem(atPath: path(name)) }
            if isReplaced { try files.copyItem(atPath: cli.store, toPath: path("shop")) }
            let outcome = try cli.run(
                arguments, environment: shim.environment(["FAULT": "\(fault):\(call)", "FAULT_PREFIX": path("shop")]))
            if outcome.status == 0 { break }
            felt += 1
            let left = try names().filter { $0 != "shop.restoring" }
            let found = try left.map { try events($0) }
            if fault == "kill" {
                #expect(outcome.status == -SIGKILL, "call \(call): \(outcome)")
                #expect(found.allSatisfy { $0 == old || $0 == restored }, "call \(call): \(left)")
                #expect(!isReplaced || found.contains(old), "call \(call): \(left)")
            } else {
                let isSaid = outcome.errors.contains("is full") || outcome.errors.contains("No space left")
                #expect(outcome.status == 1 && isSaid, "call \(call): \(outcome)")
                #expect(found == (isReplaced ? [old] : []), "call \(call): \(left)")
                // Where it is, if it could not be moved back.
                for name in left where name != "shop" { #expect(outcome.errors.contains(name), "\(outcome.errors)") }
                #expect(try !names().contains("shop.restoring"), "call \(call)")
            }
            try cli.succeed("restore", "copy", "--store", "shop", "--replace")
            #expect(try events("shop") == restored && !names().contains("shop.restoring"), "call \(call)")
        }
        #expect(felt >= Thoroughness.count(short: 2, full: 20))
    }
}
