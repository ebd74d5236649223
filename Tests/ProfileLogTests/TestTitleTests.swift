import Foundation
import TestSupport
import Testing

@Suite("Titles of tests")
struct TestTitleTests {
    @Test("The title of every test names its subject, so that it can be read alone")
    func subjects() throws {
        let root = Repository.file("Tests")
        let files = FileManager.default.enumerator(atPath: root.path)?.compactMap { $0 as? String } ?? []
        var found: [String] = []
        for file in files where file.hasSuffix(".swift") {
            let text = try String(contentsOf: root.appending(path: file), encoding: .utf8)
            let matches = text.matches(of: /@Test\(\s*"((?:It|Its|Those|They|Their|Them|So|Also|One that)\b[^"]*)"/)
            found += matches.map { "\(file): \($0.1)" }
        }
        #expect(!files.isEmpty && found.isEmpty, "\(found.joined(separator: "\n"))")
    }
}
