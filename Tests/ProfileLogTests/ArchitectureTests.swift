import Foundation
import TestSupport
import Testing

@Suite("ARCHITECTURE.md")
struct ArchitectureTests {
    /// The text of the files that declare or extend each suite.
    private static func suites() throws -> [String: [String]] {
        let folder = Repository.file("Tests")
        let paths = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []
        var suites: [String: [String]] = [:]
        for path in paths where path.hasSuffix(".swift") {
            let text = try String(contentsOf: folder.appendingPathComponent(path), encoding: .utf8)
            let names = text.matches(of: /(?:struct|class|actor|extension|enum) (\w+Tests)/).map { String($0.1) }
            for name in Set(names) { suites[name, default: []].append(text) }
        }
        return suites
    }

    @Test("Each test that is said to hold a promise exists")
    func promises() throws {
        let document = try Repository.text("ARCHITECTURE.md")
        let table = try #require(document.components(separatedBy: "| held by |").dropFirst().first)
        let rows = try #require(table.components(separatedBy: "\n\n").first).split(separator: "\n").dropFirst()
        #expect(rows.count == 11)
        let suites = try Self.suites()
        for row in rows {
            let cell = try #require(row.split(separator: "|").last { !$0.allSatisfy(\.isWhitespace) })
            // A name without a suite is of the one before it.
            var suite = ""
            for name in cell.matches(of: /`(?:\w+\/)?(?:(\w+Tests)\.?)?(\w*)`/) {
                if let named = name.1 { suite = String(named) }
                let texts = try #require(suites[suite], "\(cell)")
                let isThere = name.2.isEmpty || texts.contains { $0.contains("func \(name.2)(") }
                #expect(isThere, "\(suite) has no test \(name.2)")
            }
            #expect(!suite.isEmpty, "\(cell)")
        }
    }

    @Test("Each test that docs/reliability.md names exists")
    func reliability() throws {
        let document = try Repository.text("docs/reliability.md")
        let names = document.matches(of: /`(?:\w+\/)?(\w+Tests)(?:\.(\w+))?`/)
        #expect(names.count >= 40)
        let suites = try Self.suites()
        for name in names {
            let texts = try #require(suites[String(name.1)], "\(name.0)")
            guard let function = name.2 else { continue }
            #expect(texts.contains { $0.contains("func \(function)(") }, "\(name.0)")
        }
    }

    @Test("Each file of the reading order exists")
    func readingOrder() throws {
        let document = try Repository.text("ARCHITECTURE.md")
        let section = try #require(document.components(separatedBy: "## Reading order\n").dropFirst().first)
        let paths = section.components(separatedBy: "\n## ")[0].matches(of: /\n\d\. `(.+?)`/).map { String($0.1) }
        #expect(paths.count == 8)
        for path in paths {
            #expect(FileManager.default.fileExists(atPath: Repository.file(path).path), "\(path)")
        }
    }
}

/// The sentences of comments and documents: docs/glossary.md has the words.
@Suite("Words")
struct WordTests {
    /// The comment on each line of Swift, empty if there is none, and all lines of Markdown. Decisions stay as they
    /// were written.
    private static func lines() throws -> [(place: String, text: Substring)] {
        let paths = ["Sources", "Tests", "Examples", "docs"].flatMap { folder in
            (FileManager.default.enumerator(atPath: Repository.file(folder).path)?
                .compactMap { $0 as? String } ?? []).map { folder + "/" + $0 }
        }
        var lines: [(place: String, text: Substring)] = []
        let top = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md"]
        for path in paths + top where !path.hasPrefix("docs/decisions/") {
            guard path.hasSuffix(".swift") || path.hasSuffix(".md") else { continue }
            let text = try Repository.text(path)
            for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
                let comment = path.hasSuffix(".md") ? line.startIndex : line.firstRange(of: "//")?.lowerBound
                lines.append(("\(path):\(index + 1)", comment.map { line[$0...] } ?? ""))
            }
        }
        return lines
    }

    @Test("Sentences use the words of the glossary")
    func words() throws {
        let unused = [
            "whom": "the user who", "whoever": "the user who", "nobody": "no user", "somebody": "a user",
            "anew": "again", "meanwhile": "while …", "survivor": "canonical user", "outrun": "conflict",
            "asker": "caller", "of then": "at that moment",
        ]
        for line in try Self.lines() {
            let words = line.text.split { !$0.isLetter }.map { $0.lowercased() }
            for phrase in words + zip(words, words.dropFirst()).map({ "\($0) \($1)" }) {
                if let better = unused[phrase] { Issue.record("\(line.place): \(phrase); write: \(better)") }
            }
        }
    }

    @Test("A comment about a declaration begins with a noun or a verb")
    func beginnings() throws {
        let others: Set<Substring> = [
            "What", "Whether", "How", "Why", "Where", "When", "Which", "Who", "Whose", "Whom", "For", "Those", "It",
            "Nil", "True", "False", "That", "This", "These",
        ]
        var isInComment = false
        for line in try Self.lines() {
            defer { isInComment = line.text.hasPrefix("///") }
            let word = line.text.dropFirst(4).prefix { $0.isLetter }
            if line.text.hasPrefix("/// "), !isInComment, others.contains(word) {
                Issue.record("\(line.place) begins with \(word)")
            }
        }
    }
}
