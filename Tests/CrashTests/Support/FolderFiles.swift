import Foundation
import TestSupport

extension TemporaryFolder {
    /// The whole lines of the file `name`; a last line without an end is none.
    func lines(_ name: String) -> [String] {
        guard let text = try? String(contentsOfFile: self(name), encoding: .utf8) else { return [] }
        return text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
    }

    func bytes(_ name: String) -> Int {
        (try? FileManager.default.attributesOfItem(atPath: self(name))[.size] as? Int) ?? 0
    }
}
