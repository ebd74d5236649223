import Foundation
import TestSupport
import Testing

@Suite("Links of the documents")
struct DocumentLinkTests {
    /// All pages, as paths from the root.
    private static func pages() -> [String] {
        let manager = FileManager.default
        let nested = ["docs", "Examples", "Benchmarks", "Tests"].flatMap { folder in
            (manager.enumerator(atPath: Repository.file(folder).path)?.compactMap { $0 as? String } ?? [])
                .map { "\(folder)/\($0)" }
        }
        let top = (try? manager.contentsOfDirectory(atPath: Repository.root.path)) ?? []
        return (top + nested).filter { $0.hasSuffix(".md") && !$0.contains(".build/") }.sorted()
    }

    /// The lines of a page outside fenced blocks.
    private static func lines(of page: String) throws -> [Substring] {
        var isCode = false
        return try Repository.text(page).split(separator: "\n").filter { line in
            if line.hasPrefix("```") { isCode.toggle() }
            return !isCode
        }
    }

    /// The places that links of a page lead to, without those on other sites.
    private static func targets(of page: String) throws -> [String] {
        // A link may be broken over two lines; code within a line is none.
        try lines(of: page).joined(separator: "\n").replacing(/`[^`\n]*`/, with: "")
            .matches(of: /\]\(([^)\s]+)\)/).map { String($0.1) }.filter { !$0.contains(/^[a-z]+:/) }
    }

    /// The anchors of a page's titles, as GitHub makes them.
    private static func anchors(of page: String) throws -> Set<String> {
        var anchors: Set<String> = []
        for line in try lines(of: page) where line.hasPrefix("#") {
            let title = String(line.drop { $0 == "#" }.drop { $0 == " " })
                .replacing(/\[([^\]]*)\]\([^)]*\)/) { $0.output.1 }
            let anchor = title.lowercased().filter { $0.isLetter || $0.isNumber || "-_ ".contains($0) }
                .replacing(" ", with: "-")
            var (numbered, number) = (anchor, 0)
            while anchors.contains(numbered) {
                number += 1
                numbered = "\(anchor)-\(number)"
            }
            anchors.insert(numbered)
        }
        return anchors
    }

    /// The path from the root of what `target` names on `page`, without `.` and `..`.
    private static func path(_ target: Substring, on page: String) -> String {
        var parts = page.split(separator: "/").dropLast().map(String.init)
        for part in target.split(separator: "/") where part != "." {
            if part == "..", !parts.isEmpty { parts.removeLast() } else { parts.append(String(part)) }
        }
        return parts.joined(separator: "/")
    }

    @Test("Each link leads to a file that exists, and to a title in it")
    func links() throws {
        let pages = Self.pages()
        #expect(pages.count >= 50)
        let anchors = try Dictionary(uniqueKeysWithValues: pages.map { ($0, try Self.anchors(of: $0)) })
        for page in pages {
            for target in try Self.targets(of: page) {
                let parts = target.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
                let path = parts[0].isEmpty ? page : Self.path(parts[0], on: page)
                guard FileManager.default.fileExists(atPath: Repository.file(path).path) else {
                    Issue.record("\(page): \(target) leads to no file")
                    continue
                }
                guard parts.count == 2, let anchors = anchors[path] else { continue }
                #expect(anchors.contains(String(parts[1])), "\(page): \(target)")
            }
        }
    }

    @Test("Each page of docs is in the index, on one line")
    func index() throws {
        let index = "docs/README.md"
        let entries = try Self.lines(of: index).filter { $0.hasPrefix("|") || $0.hasPrefix("* ") }
            .flatMap { line in line.matches(of: /\]\(([^)#]+)\)/).map { Self.path($0.1, on: index) } }
        for page in Self.pages() where page.hasPrefix("docs/") && page != index {
            // The folder of decisions has one line, and its files begin with what they decide.
            if page.hasPrefix("docs/decisions/") { continue }
            #expect(entries.filter { $0 == page }.count == 1, "\(page)")
        }
        #expect(entries.contains("docs/decisions"))
    }

    @Test("The first page leads to the index")
    func first() throws {
        #expect(try Self.targets(of: "README.md").contains("docs/README.md"))
    }
}
