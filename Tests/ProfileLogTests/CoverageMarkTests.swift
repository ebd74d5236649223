import Foundation
import ProfileLog
import TestSupport
import Testing

@Suite("Coverage marks of the commit path")
struct CoverageMarkTests {
    /// The marks that stand in `hit(.…)` or `hits(.…)` below a folder.
    private static func marks(below folder: String, _ call: Regex<(Substring, Substring)>) throws -> Set<String> {
        let root = Repository.file(folder)
        let files = FileManager.default.enumerator(atPath: root.path)?.compactMap { $0 as? String } ?? []
        var found: Set<String> = []
        for file in files where file.hasSuffix(".swift") {
            let text = try String(contentsOf: root.appending(path: file), encoding: .utf8)
            for match in text.matches(of: call) {
                found.formUnion(match.1.matches(of: /\.(\w+)/).map { String($0.1) })
            }
        }
        return found
    }

    @Test("Every coverage mark is in the source, and claimed by a test")
    func claimed() throws {
        let all = Set(CoverageMark.allCases.map(\.rawValue))
        #expect(try Self.marks(below: "Sources/ProfileLog", /CoverageMark\.hit\(([^)]*)\)/).intersection(all) == all)
        #expect(try Self.marks(below: "Tests", /\bhits\(([^)]*)\)/).intersection(all) == all)
    }
}
