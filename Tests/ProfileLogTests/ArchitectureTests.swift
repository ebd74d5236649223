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
}
