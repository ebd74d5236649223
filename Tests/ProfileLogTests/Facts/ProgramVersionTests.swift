import TestSupport
import Testing

@testable import ProfileLogFacts

@Suite("The version of the programs")
struct ProgramVersionTests {
    @Test("The version names the commit, or says that it is not known")
    func text() {
        #expect(ProgramVersion.text(commit: "0123456789ab") == "\(ProgramVersion.number) (commit 0123456789ab)")
        #expect(ProgramVersion.text(commit: "") == "\(ProgramVersion.number) (commit unknown)")
    }

    @Test("CHANGELOG.md begins with the release of this version, or with what is not released yet")
    func changelog() throws {
        let titles = try Repository.text("CHANGELOG.md").split(separator: "\n").filter { $0.hasPrefix("## ") }
        #expect(titles.first == "## Unreleased" || titles.first?.hasPrefix("## \(ProgramVersion.number)") == true)
    }
}
