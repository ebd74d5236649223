import Foundation
import TestSupport
import Testing

/// An embedder has neither the programs nor their options: the library names its own calls.
@Suite("Words of errors")
struct ErrorWordsTests {
    @Test(
        "No text of the library names a program, an option of one, or a path of the API",
        arguments: ["Facts", "Records", "Folds", "Machines", "Store", "Log", "Replay", "Snippets", "ProfileLog"])
    func library(room: String) throws {
        let word = try Regex(#"profilecli|profiled\b|PROFILELOG_|/v1/|(^|[\s"`(\[])--[a-z]"#)
        let root = Repository.file("Sources/ProfileLog/\(room)")
        let paths = FileManager.default.enumerator(atPath: root.path)?.compactMap { $0 as? String } ?? []
        let files = paths.filter { $0.hasSuffix(".swift") }
        #expect(!files.isEmpty)
        for file in files {
            let text = try String(contentsOf: root.appending(path: file), encoding: .utf8)
            for line in text.split(separator: "\n") {
                // Nearly all lines have none of the words: a search for a text is faster than a pattern.
                guard ["profilecli", "profiled", "PROFILELOG_", "/v1/", "--"].contains(where: { line.contains($0) })
                else {
                    continue
                }
                // Without comments: what is left of these words stands in a literal.
                let code = line.prefix(upTo: line.firstRange(of: /^ *\/\/|  \/\//)?.lowerBound ?? line.endIndex)
                if code.contains(word) { Issue.record("\(room)/\(file): \(line)") }
            }
        }
    }
}
