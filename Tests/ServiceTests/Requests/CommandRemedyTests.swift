import Foundation
import ProfileLog
import ProfileLogRequests
import TestSupport
import Testing

@Suite("Remedies for users of the programs")
struct CommandRemedyTests {
    @Test("A remedy that the programs complete with a command is one of the library")
    func texts() throws {
        var sources = ""
        for room in ["Machines", "Log", "Replay"] {
            let root = Repository.file("Sources/ProfileLog/\(room)")
            let files = FileManager.default.enumerator(atPath: root.path)?.compactMap { $0 as? String } ?? []
            for file in files where file.hasSuffix(".swift") {
                sources += try String(contentsOf: root.appending(path: file), encoding: .utf8)
            }
        }
        for text in AppendError.commandRemedies.keys { #expect(sources.contains("\"\(text)\""), "\(text)") }
    }

    @Test("The library names its calls, and the programs their commands")
    func words() {
        let errors: [any LogError] = [
            AppendError.unknownUser(.externalID("ana")), AppendError.unknownDevice, AppendError.pendingFull(limit: 1),
            AppendError.invalid(place: "The shadow", reason: "does not exist", remedy: "Fold one first."),
            AppendError.refused(.damaged(place: "here")), StorageError.notAStore(path: "s"),
            StorageError.noStore(path: "s"), StorageError.inUse(path: "s"), StorageError.damaged(place: "here"),
            StorageError.brokenPage(operation: "read"),
        ]
        for error in errors {
            let commands = error.commandRemedy
            #expect(["profilecli", "--store"].contains { commands.contains($0) }, "\(commands)")
            #expect(!["profilecli", "--store"].contains { error.remedy.contains($0) }, "\(error.remedy)")
        }
        let conflict = AppendError.conflict(over: "an address")
        #expect(conflict.commandRemedy == conflict.remedy)
    }
}
