import Foundation
import TestSupport
import Testing

/// Runs the programs in `Examples`, and compares the code in the documents with theirs.
@Suite("Examples")
struct ExampleTests {
    private static let catalogue = "Sources/ProfileLog/ProfileLog/ProfileLog.docc/"

    private let folder = TemporaryFolder(prefix: "examples")

    private func output(
        of program: URL, _ arguments: [String], expecting status: Int32 = 0, environment: [String: String]? = nil
    ) throws -> String {
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        let file = folder.file("output")
        let process = try ChildProcess(
            program, arguments, environment: environment, output: .file(file), errors: .file(file))
        let end = process.waitForEnd()
        let output = try String(contentsOf: file, encoding: .utf8)
        #expect(end == status, "\(output)")
        return output
    }

    @Test("An embedder saves, launches and reads a profile; its second run repeats what has a key")
    func embedder() throws {
        let store = folder.file("store").path
        let first = try output(of: ChildProcess.built("Embedder"), [store])
        #expect(
            first == """
                Appended up to position 3.
                  version 3: level = int(7), played song × 1
                Saved at position 5.
                  version 5: level = int(7), played song × 1
                Launched: 1 flush.
                  version 8: level = int(7), Completed Match Game × 1, played song × 1
                4 users.
                now level = int(2), at version 2 level = int(7)
                set by the event of version 3
                in the order of occurrence level = int(7)
                level is int(2), and was int(7)
                newest first: customAttributesChanged, customAttributesChanged, userCreated

                """)
        let second = try output(of: ChildProcess.built("Embedder"), [store])
        #expect(second.hasPrefix("Appended up to position 3, a retry.\n"))
    }

    @Test("A projection of one's own is read, proved and rebuilt")
    func projection() throws {
        let store = folder.file("store").path
        for _ in 0..<2 {
            #expect(
                try output(of: ChildProcess.built("OwnProjection"), [store]) == """
                    jane paid ["EUR": 1250]
                    Live states equal a fresh fold.
                    The store is sound.
                    1 of 2 profiles would change
                    1 with the corrected purchase
                    1 if the first level stayed
                    1 if refunds did not count

                    """)
        }
    }

    @Test("The CI job plays its scenarios, writes a report, and fails if one fails")
    func job() throws {
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        let copy = folder.file("CI")
        try FileManager.default.copyItem(at: Repository.file("Examples/CI"), to: copy)
        let report = folder.file("junit.xml")
        let programs = ChildProcess.built("profilecli").deletingLastPathComponent().path
        func run(expecting status: Int32) throws -> String {
            try output(
                of: copy.appending(path: "run.sh"), [report.path], expecting: status,
                environment: ["PATH": "\(programs):/usr/bin:/bin", "LANG": "C.UTF-8"])
        }
        #expect(try run(expecting: 0).contains("2 scenarios: 2 passed"))
        #expect(try String(contentsOf: report, encoding: .utf8).contains("tests=\"2\""))

        let file = copy.appending(path: "scenarios/match-game.yaml")
        let text = try String(contentsOf: file, encoding: .utf8)
        try text.replacing("count: 1", with: "count: 2").write(to: file, atomically: true, encoding: .utf8)
        #expect(try run(expecting: 1).contains("1 passed, 1 failed"))
    }

    // MARK: - The code in the documents

    @Test(
        "Each paragraph of Swift in a document is in an example",
        arguments: [
            "README.md", "docs/embedding.md", catalogue + "ProfileLog.md", catalogue + "AskAboutThePast.md",
            catalogue + "FoldYourOwnProjection.md", catalogue + "TryARule.md",
        ])
    func documents(path: String) throws {
        let code = try Self.swift(in: "Examples").map { Self.withoutIndentation($0.text) }.joined()
        let text = try Repository.text(path)
        let blocks = text.components(separatedBy: "```swift\n").dropFirst()
            .compactMap { $0.components(separatedBy: "```").first }
        #expect(!blocks.isEmpty)
        // A block may join paragraphs of several places.
        for paragraph in blocks.flatMap({ $0.components(separatedBy: "\n\n") }) where !paragraph.contains(".package(") {
            #expect(code.contains(Self.withoutIndentation(paragraph)), "\(paragraph)")
        }
    }

    @Test("Each block of Swift in the comment of a public declaration is in DocCommentSamples.swift")
    func comments() throws {
        let samples = Self.withoutIndentation(
            try Repository.text("Tests/ExampleTests/DocCommentSamples.swift"))
        var count = 0
        for file in try Self.swift(in: "Sources/ProfileLog") {
            var comment: [Substring] = []
            for line in file.text.split(separator: "\n").map({ $0.drop { $0 == " " } }) {
                if line.hasPrefix("///") {
                    comment.append(line.dropFirst(3))
                } else if !line.hasPrefix("@") {
                    // Text and code alternate, and text is first.
                    let blocks = comment.split { $0.hasPrefix(" ```") }
                    for block in blocks.enumerated().filter({ $0.offset % 2 == 1 }) where line.hasPrefix("public ") {
                        count += 1
                        let code = Self.withoutIndentation(block.element.joined(separator: "\n"))
                        #expect(samples.contains(code), "\(file.path): \(code)")
                    }
                    comment = []
                }
            }
        }
        #expect(count >= 9)
    }

    private static func swift(in folder: String) throws -> [(path: String, text: String)] {
        let root = Repository.file(folder)
        let paths = FileManager.default.enumerator(atPath: root.path)?.compactMap { $0 as? String } ?? []
        return try paths.filter { $0.hasSuffix(".swift") && !$0.contains(".build/") }.map { path in
            (path, try String(contentsOf: root.appending(path: path), encoding: .utf8))
        }
    }

    /// The lines of `text` that are not empty, without the spaces around them.
    private static func withoutIndentation(_ text: String) -> String {
        text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
            .map { $0 + "\n" }.joined()
    }
}
