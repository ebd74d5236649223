import Foundation
import Testing

@Suite(
    "A full disk",
    .enabled(if: SmallDisk.canMount, "no tmpfs can be mounted here: a full disk is not tried"))
struct DiskFullTests {
    /// Lines of 20,000 events.
    private static let events = Result { try CLI().succeed("generate", "--events", "20000", "--users", "300").output }

    @Test("What does not fit is refused with the reason, and what was stored stays")
    func write() throws {
        let cli = try CLI()
        let folder = cli.folder.appending(path: "small").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let text = String(repeating: "x", count: 60_000)
        let outcome = try cli.run(
            [
                "-m", "sh", "-c",
                """
                mount -t tmpfs -o size=2m none small
                i=0
                while [ $i -lt 200 ]; do
                    "$0" log attribute jane text=\(text) --store small/store > last 2> errors
                    status=$?
                    [ $status = 0 ] || break
                    i=$((i + 1))
                done
                cat errors >&2
                "$0" check --store small/store
                "$0" history jane --store small/store --kind customAttributesChanged --format json | wc -l
                echo $i
                exit $status
                """, CLI.program.path,
            ], command: SmallDisk.unshare)
        #expect(outcome.status == 1, "\(outcome.errors)")
        #expect(outcome.errors.contains("Error: The disk is full"), "\(outcome.errors)")
        #expect(outcome.errors.contains("Free some space and run the same command again.\n"), "\(outcome.errors)")
        #expect(outcome.lines.first?.hasPrefix("Sound") == true, "\(outcome.output)")
        #expect(outcome.lines.count == 3 && outcome.lines[1] == outcome.lines[2], "\(outcome.output)")
        #expect(Int(outcome.lines.last ?? "").map { $0 > 0 } == true)
    }

    @Test(
        "A command that makes many commits says the same",
        arguments: ["replay --shadow --store small/filled", "simulate --devices 500 --store small/new"])
    func manyCommits(command: String) throws {
        let cli = try CLI()
        let folder = cli.folder.appending(path: "small").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        if command.hasSuffix("filled") { _ = try cli.write(Self.events.get(), as: "events.jsonl") }
        let outcome = try cli.run(
            [
                "-m", "sh", "-c",
                """
                mount -t tmpfs -o size=2m none small
                case "$1" in *filled) "$0" import events.jsonl --store small/filled 2> refused ;; esac
                "$0" $1
                """, CLI.program.path, command,
            ], command: SmallDisk.unshare)
        #expect(outcome.status == 1, "\(outcome.errors)")
        #expect(outcome.errors.contains("Error: The disk is full"), "\(outcome.errors)")
        #expect(outcome.errors.contains("Free some space and "), "\(outcome.errors)")
    }

    @Test("An import says once what to do, and speaks of no key that was not typed")
    func imported() throws {
        let cli = try CLI()
        let folder = cli.folder.appending(path: "small").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        _ = try cli.write(Self.events.get(), as: "events.jsonl")
        let outcome = try cli.run(
            [
                "-m", "sh", "-c",
                """
                mount -t tmpfs -o size=2m none small
                "$0" import events.jsonl --store small/filled
                """, CLI.program.path,
            ], command: SmallDisk.unshare)
        #expect(outcome.status == 1, "\(outcome.errors)")
        #expect(outcome.errors.contains("The disk is full"), "\(outcome.errors)")
        #expect(
            outcome.errors.contains("Free some space, then run the same command again: what is stored is skipped."),
            "\(outcome.errors)")
        #expect(!outcome.errors.contains("key"), "\(outcome.errors)")
    }

    @Test("To read a copy takes 700 KB of space at most, and without it the reason is named", arguments: [700, 100])
    func reading(kilobytes: Int) throws {
        let cli = try CLI()
        let folder = cli.folder.appending(path: "small").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try cli.succeed("log", "event", "jane", "a")
        for command in ["check", "replay --verify", "profile jane", "history jane", "tail --no-follow"] {
            let outcome = try cli.run(
                [
                    "-m", "sh", "-c",
                    """
                    mount -t tmpfs -o size=4m none small
                    mkdir small/copy
                    cp store/data.mdb small/copy/
                    dd if=/dev/zero of=small/filler bs=1k count=5000 2> /dev/null
                    truncate -s -$2k small/filler
                    "$0" $1 --store small/copy
                    """, CLI.program.path, command, "\(kilobytes)",
                ], command: SmallDisk.unshare)
            if kilobytes == 700 {
                #expect(outcome.status == 0, "\(command): \(outcome.errors)")
            } else {
                #expect(outcome.status == 1, "\(command): \(outcome.errors)")
                #expect(outcome.errors.contains("takes 260 KiB for its lock.mdb"), "\(outcome.errors)")
                #expect(!outcome.errors.contains("append"), "\(outcome.errors)")
            }
        }
    }
}
