internal import ArgumentParser
internal import ProfileLog

struct GenerateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "generate", "Make sample events as JSON Lines, for import and benchmarks.",
        """
        The same seed and number of users always give the same events, and the first events of a longer run are those \
        of a shorter one. Few users are busy and many are quiet.
        """,
        examples: """
            profilecli generate --events 100000 --users 5000 | profilecli import -
            profilecli generate --events 1000000 --users 50000 --seed 7 -o events.jsonl
            """)

    @Option(parsing: .unconditional, help: "How many events.") var events = 1_000
    @Option(parsing: .unconditional, help: "How many users.") var users = 100

    @Option(parsing: .unconditional, help: "Any number, 0 or more; a different one gives different events.")
    var seed: UInt64 = 1

    @Option(name: .shortAndLong, help: "A file to write instead of standard output.", completion: .file())
    var output: String?

    mutating func validate() throws {
        guard events >= 0 else { throw ValidationError("--events must not be negative.") }
        guard 1...100_000_000 ~= users else { throw ValidationError("--users must be from 1 to 100,000,000.") }
    }

    func run() async throws {
        let file = try OutputFile(output)
        try await file.write { goOn in try write(to: file.descriptor, goOn) }
        if let output { Output.message("Wrote \(Number.counted(UInt64(events), "event")) to \(output).") }
    }

    private func write(to descriptor: Int32, _ goOn: () throws -> Void) throws {
        var generator = WorkloadGenerator(seed: seed, users: users)
        var buffer: [UInt8] = []
        buffer.reserveCapacity(1 << 17)
        for _ in 0..<events {
            generator.appendLine(to: &buffer)
            if buffer.count >= 1 << 16 {
                try Output.write(buffer, to: descriptor)
                buffer.removeAll(keepingCapacity: true)
                try goOn()
            }
        }
        try Output.write(buffer, to: descriptor)
    }
}
