import Foundation
import TestSupport
import Testing

@Suite("Titles of tests")
struct TestTitleTests {
    @Test("The title of every test names its subject, so that it can be read alone")
    func subjects() throws {
        let root = Repository.file("Tests")
        let files = FileManager.default.enumerator(atPath: root.path)?.compactMap { $0 as? String } ?? []
        for file in files where file.hasSuffix(".swift") {
            let text = try String(contentsOf: root.appending(path: file), encoding: .utf8)
            for match in text.matches(of: /@Test\(\s*"((?:It|Its|Those|They|Their|Them|So|Also|One that)\b[^"]*)"/) {
                Issue.record("\(file): \(match.1)")
            }
        }
    }
}
