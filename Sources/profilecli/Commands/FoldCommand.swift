internal import ArgumentParser
internal import ProfileLog
internal import ProfileLogNativeAPI

struct FoldCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        "fold", "Fold events from standard input into profiles, for the what-if of another profilecli.",
        """
        Speaks the protocol of docs/fold-protocol.md: events of a user come in, line by line, and at the line that \
        ends the user the profile goes out. Needs no store.
        """,
        examples: "profilecli whatif --program ./older/profilecli fold")

    func run() throws {
        var receiver = FoldProtocol.Receiver()
        var number = 0
        while let line = readLine() {
            number += 1
            do {
                guard let answer = try receiver.answer(to: Array(line.utf8)) else { continue }
                try Output.print([String(decoding: answer, as: UTF8.self)])
            } catch let refusal as FoldProtocol.Receiver.Refusal {
                throw CommandError(
                    "Line \(number) \(refusal.reason).",
                    remedy:
                        "`profilecli whatif --program PROGRAM` writes the lines; docs/fold-protocol.md has an example.")
            }
        }
    }
}
