internal import ArgumentParser
internal import ProfileLog

#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// `profilecli generate`
struct GenerateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "generate",
        abstract: "Make sample events as JSON Lines, for import and benchmarks.",
        discussion: """
            The same seed and number of users always give the same events, and the first events of a longer run are those of a \
            shorter one. Few users are busy and many are quiet.

            EXAMPLES
              profilecli generate --events 100000 --users 5000 | profilecli import -
              profilecli generate --events 1000000 --users 50000 --seed 7 -o events.jsonl
            """)

    @Option(name: .long, parsing: .unconditional, help: "How many events.")
    var events = 1_000

    @Option(name: .long, parsing: .unconditional, help: "How many users.")
    var users = 100

    @Option(name: .long, parsing: .unconditional, help: "Any number, 0 or more; another one gives other events.")
    var seed: UInt64 = 1

    @Option(name: .shortAndLong, help: "A file to write instead of standard output.", completion: .file())
    var output: String?

    mutating func validate() throws {
        guard events >= 0 else { throw ValidationError("--events must not be negative.") }
        guard 1...100_000_000 ~= users else { throw ValidationError("--users must be from 1 to 100,000,000.") }
    }

    func run() throws {
        var descriptor = STDOUT_FILENO
        if let output {
            descriptor = open(output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
            guard descriptor >= 0 else {
                throw Failure(
                    "The file \(output) cannot be written: \(String(cString: strerror(errno))).",
                    remedy: "Check the path and the folder's permissions.")
            }
        }
        var generator = WorkloadGenerator(seed: seed, users: users)
        var buffer: [UInt8] = []
        buffer.reserveCapacity(1 << 17)
        for _ in 0..<events {
            generator.appendLine(to: &buffer)
            if buffer.count >= 1 << 16 {
                try Output.write(buffer, to: descriptor)
                buffer.removeAll(keepingCapacity: true)
            }
        }
        try Output.write(buffer, to: descriptor)
        if let output {
            close(descriptor)
            Output.message("Wrote \(Number.counted(UInt64(events), "event")) to \(output).")
        }
    }
}
