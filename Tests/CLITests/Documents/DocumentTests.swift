import Foundation
import TestSupport
import Testing

/// Runs the tutorial and the how-tos as a reader would. All blocks of a page marked `sh` run in one shell, in an empty
/// folder, with the built programs; a block marked `sh fails` must fail. A block marked `text` after one of them, and
/// comments that begin with `# →`, are what the reader sees: see ``Page/patterns(of:)``.
@Suite("Commands of the documents")
struct DocumentTests {
    @Test("Each page's commands work and print what the page says", arguments: Page.all)
    func page(path: String) throws {
        let page = try Page(path)
        let commands = page.commands
        if commands.isEmpty { return }
        let cli = try CLI()
        let variables = [
            "PATH": "\(CLI.program.deletingLastPathComponent().path):/usr/bin:/bin", "HOME": cli.folder.path,
            // The machine's own configuration is none of the page.
            "PROFILED_CONFIG": "/dev/null",
        ]
        // A page that waits for ever is ended, with all that it started.
        let outcome = try cli.run(
            ["120", "/bin/bash", "-c", page.script], environment: variables, command: URL(filePath: "/usr/bin/timeout"))
        let outputs = outcome.output.components(separatedBy: "\n\u{1}").dropFirst().map { output in
            output.split(separator: "\n", omittingEmptySubsequences: false).dropFirst().map(String.init)
        }
        let last = outputs.last?.joined(separator: "\n") ?? ""
        #expect(outcome.status == 0, "\(path), the block of line \(commands[max(0, outputs.count - 1)].line): \(last)")
        for (block, output) in zip(commands, outputs) {
            var rest = output.map(Page.comparable)[...]
            for pattern in page.patterns(of: block) {
                guard let index = rest.firstIndex(where: { Page.fits($0, pattern) }) else {
                    let printed = output.joined(separator: "\n")
                    Issue.record("\(path):\(block.line): “\(pattern)” does not come in its place in:\n\(printed)")
                    break
                }
                rest = rest[(index + 1)...]
            }
        }
    }

    @Test("A printed line is compared without spaces, times, amounts and what … stands for")
    func comparison() {
        func fits(_ line: String, _ pattern: String) -> Bool {
            Page.fits(Page.comparable(line), Page.comparable(pattern))
        }
        #expect(fits("level  2      2026-01-04 07:45:02Z  7", "level 2 2025-12-31 23:59:59.123Z   7"))
        #expect(!fits("level  2  7", "level 3 7"))
        #expect(fits("Done in 12 ms (3,000 events/s).", "Done in 7 ms (1 events/s)."))
        #expect(fits("a store of 12 users", "a store …"))
        #expect(fits("Deleted a b c", "…a…c"))
        #expect(!fits("Deleted a b c", "…c…a"))
        #expect(!fits("Deleted a b c", "Deleted a b"))
    }

    @Test("Most how-tos have commands that are run")
    func most() throws {
        let pages = try Page.all.map { try Page($0) }
        #expect(pages.filter { !$0.commands.isEmpty }.count >= 6)
        for page in pages {
            for block in page.blocks where !Page.markings.contains(block.marking) {
                Issue.record("\(page.path):\(block.line) is marked “\(block.marking)”: \(Page.markings)")
            }
        }
    }
}

/// A page whose commands a test runs.
struct Page {
    /// The tutorial and the how-tos, as paths from the root.
    static let all: [String] = {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: Repository.file("docs/how-to").path)) ?? []
        return ["docs/tutorial.md"] + names.filter { $0.hasSuffix(".md") }.sorted().map { "docs/how-to/\($0)" }
    }()

    /// The words after the fence. `console` is for root, systemd or a package, and is not run.
    static let markings: Set<String> = ["sh", "sh fails", "text", "console", "yaml", "ini", "json"]

    /// A fenced block.
    struct Block {
        let marking: String
        /// The number of the line of its first fence, from 1.
        let line: Int
        var lines: [Substring] = []
        var isCommands: Bool { marking == "sh" || marking == "sh fails" }
        /// The number of the line after its last fence.
        var end: Int { line + lines.count + 2 }
    }

    let path: String
    private(set) var blocks: [Block] = []
    var commands: [Block] { blocks.filter(\.isCommands) }

    init(_ path: String) throws {
        self.path = path
        var open: Block?
        let lines = try Repository.text(path).split(separator: "\n", omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() {
            if line.hasPrefix("```") {
                if let block = open {
                    blocks.append(block)
                    open = nil
                } else {
                    open = Block(marking: String(line.dropFirst(3)), line: index + 1)
                }
            } else {
                open?.lines.append(line)
            }
        }
    }

    /// All commands as one script. Before the output of each block it prints a line that begins with a byte 1.
    var script: String {
        var script = """
            set -eu -o pipefail
            unset PROFILELOG_STORE
            trap 'kill $(jobs -p) 2>/dev/null || true; wait' EXIT
            exec 2>&1

            """
        for block in commands {
            script += "printf '\\n\\001\\n'\n"
            let text = block.lines.joined(separator: "\n")
            script += block.marking == "sh" ? text : "if (\n\(text)\n); then echo 'This must fail.'; exit 1; fi"
            script += "\n"
        }
        return script
    }

    /// The lines that the reader of `block` sees, in this order: the text after each `# →` is in a line, and each line
    /// of a block `text` that follows is a line of the output. The output may have other lines between these.
    func patterns(of block: Block) -> [String] {
        let comments = block.lines.compactMap { line in
            line.firstRange(of: "# → ").map { "…" + Self.comparable(line[$0.upperBound...]) + "…" }
        }
        let following = blocks.first { $0.marking == "text" && ($0.line == block.end || $0.line == block.end + 1) }
        return comments + (following?.lines.map { Self.comparable($0) } ?? []).filter { !["", "…"].contains($0) }
    }

    /// A line without what differs from run to run: times, durations and rates, sizes, random IDs, widths of columns.
    static func comparable(_ line: some StringProtocol) -> String {
        String(line)
            .replacing(/\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?/, with: "TIME")
            .replacing(/\b[0-9a-f]{16,}\b/, with: "ID")
            .replacing(/\b\d+(?:[.,]\d+)* (?:ms|µs|s|min|h|d|bytes|KB|MB|KiB|MiB|events\/s)(?![a-z])/, with: "AMOUNT")
            .split(separator: " ").joined(separator: " ")
    }

    /// Tells whether `line` is `pattern`, in which … stands for any text.
    static func fits(_ line: String, _ pattern: String) -> Bool {
        let parts = pattern.split(separator: "…", omittingEmptySubsequences: false)
        var rest = line[...]
        for (index, part) in parts.enumerated() {
            if index == 0 {
                guard rest.hasPrefix(part) else { return false }
                rest = rest.dropFirst(part.count)
            } else if index == parts.count - 1 {
                return rest.hasSuffix(part)
            } else if !part.isEmpty {
                guard let range = rest.firstRange(of: part) else { return false }
                rest = rest[range.upperBound...]
            }
        }
        return rest.isEmpty
    }
}
