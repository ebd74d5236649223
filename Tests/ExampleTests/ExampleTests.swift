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

    @Test("A service appends, sells without an overdraft and follows the log; its second run repeats what has a key")
    func service() throws {
        let store = folder.file("store").path
        let first = try output(of: ChildProcess.built("ServiceLoop"), [store])
        #expect(
            first == """
                Appended up to position 3.
                jane is on level int(7) after 3 events.
                The gift is at position 5.
                The gift is at position 5, a retry.
                The user exists already, at version 2; nothing was stored. Read the user again, decide again, and \
                append at the version that it has now.
                Sold 10 of 64 orders; ana has 0 coins.
                The follower saw 50 coins spent.
                A consumer read 20 events, and 0 after these.
                4 users.
                The log is closed, or its `LogWriter` is; nothing was stored. Open the log again, or make another \
                `LogWriter`, and append it there.

                """)
        let second = try output(of: ChildProcess.built("ServiceLoop"), [store])
        #expect(second.hasPrefix("Appended up to position 3, a retry.\n"))
        #expect(second.contains("Sold 0 of 64 orders; ana has 0 coins.\nThe follower saw 0 coins spent.\n"))
    }

    @Test("A projection in three scopes is read, proved and rebuilt")
    func projection() throws {
        let store = folder.file("store").path
        for _ in 0..<2 {
            #expect(
                try output(of: ChildProcess.built("OwnProjection"), [store]) == """
                    jane spent EUR 12.50, bo EUR 0.30
                      by product: book EUR 12.50, pen EUR 0.30
                      on the phone: EUR 12.50
                    jane spent EUR 12.50, bo nothing
                      by product: book EUR 12.50
                      on the phone: EUR 12.50
                    Live states equal a fresh fold.
                    Rebuilt: true, with 0 users whose states were wrong.
                    The store is sound.
                    The backup has 9 events.
                    1 of 2 profiles would change
                    1 with the corrected purchase
                    1 if the first level stayed
                    1 if refunds did not count

                    """)
        }
    }

    @Test("The past is asked by version, position and time, why it is so, and what would be")
    func past() throws {
        #expect(
            try output(of: ChildProcess.built("PastQuestions"), [folder.file("store").path]) == """
                level 2; at version 2 it was 3
                  at position 3 7, on Monday 7
                in the order of occurrence 7
                in January she had 0 events and the level none
                The moment is beyond the user's last version, 8. Ask for an earlier one.
                she lives in Basel after 8 events, at position 8
                newest first: customAttributesChanged, customAttributesChanged, customEventLogged
                beginners: eve
                home views: 2, after her fifth event 1
                level is 2, and was 7:
                  set by version 4, request line 3
                address.city is Basel, set at position 8
                she viewed home 2 times, by versions 5, 6
                since version 2: address none -> an object
                since version 2: level 3 -> 2
                since version 2: Viewed Home none -> 2
                without the late level 1 of 1 profiles would differ
                void, her level is 7; before the void it was 2
                it counts again: 2
                erased 1 person; zoe is not known

                """)
    }

    @Test("An extension saves in a process of its own; its app launches, repairs and changes the user")
    func devices() throws {
        #expect(
            try output(of: ChildProcess.built("DevicePair"), [folder.file("store").path]) == """
                another process saved: customEventSaved
                games: jane 0, bo 0
                waits: customEventSaved
                waits: userAttributeSaved
                launched: flushed
                launched: rejected, The user attribute email must be an e-mail address
                games: jane 1, bo 0
                repairs what was rejected: The user attribute email must be an e-mail address
                launched: flushed
                jane's address: string("jane@example.com")
                another process saved: customEventSaved
                launched: flushed
                games: jane 2, bo 0
                another process saved: customEventSaved
                launched: taken by the SDK, not sent
                online: 0 items wait
                games: jane 2, bo 1

                """)
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
        "Each paragraph of Swift in a document is in an example, or in the tests of one",
        arguments: ["README.md", "docs/embedding.md"]
            + [
                "ProfileLog", "AppendAndRetry", "AskAboutThePast", "ChooseAScope", "Concurrency", "Deploy", "Devices",
                "FoldYourOwnProjection", "ShareAStore", "TestYourFold", "TryARule", "WatchTheLog",
            ].map { catalogue + $0 + ".md" })
    func documents(path: String) throws {
        let tests = try Repository.text("Tests/ExampleTests/MinutesPlayedTests.swift")
        let code = try (Self.swift(in: "Examples").map { $0.text } + [tests])
            .map { Self.withoutIndentation($0) }.joined()
        let text = try Repository.text(path)
        let blocks = text.components(separatedBy: "```swift\n").dropFirst()
            .compactMap { $0.components(separatedBy: "```").first }
        #expect(!blocks.isEmpty)
        // A block may join paragraphs of several places.
        for paragraph in blocks.flatMap({ $0.components(separatedBy: "\n\n") }) where !paragraph.contains(/package[:(]/)
        {
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
