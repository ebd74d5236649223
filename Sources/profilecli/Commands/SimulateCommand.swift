internal import ArgumentParser
internal import ProfileLog

struct SimulateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        "simulate", "Fill a store with a made-up history: pushes, launches, log-ins, offline devices.",
        """
        People play, follow a course and register in pushes, and open the app now and then; some share a tablet, some \
        never log in. The same seed, devices and days always give the same history. Look at it with `history`, and at \
        what the published code would have made of it with `whatif`.
        """,
        examples: """
            profilecli simulate --store academy
            profilecli simulate --store academy --devices 500 --days 30 --seed 7
            profilecli whatif --store academy
            """)

    @OptionGroup var store: StoreOnlyOption
    @Option(parsing: .unconditional, help: "How many devices.") var devices = 50
    @Option(parsing: .unconditional, help: "How many days.") var days = 14

    @Option(parsing: .unconditional, help: "Any number, 0 or more; a different one gives a different history.")
    var seed: UInt64 = 1

    mutating func validate() throws {
        guard 1...100_000 ~= devices else { throw ValidationError("--devices must be from 1 to 100,000.") }
        guard 1...3_650 ~= days else { throw ValidationError("--days must be from 1 to 3,650.") }
    }

    func run() throws {
        Interrupt.watch()
        let log = try openStore(store.path, create: true)
        guard try log.lastPosition() == .start else {
            throw CommandError(
                "The store in \(store.path) holds events already.",
                remedy: "Name an empty folder with --store: a made-up history does not mix with a real one.")
        }
        // From 2026-01-05, a Monday.
        let start = Timestamp(rawValue: 1_767_571_200_000_000)
        let history = DeviceHistory(seed: seed, devices: devices, days: days, start: start)
        let isComplete = try ProgressBar.run { try history.play(on: log, progress: $0) }
        guard isComplete else {
            throw CommandError(
                "The simulation was stopped by \(Interrupt.name); what it made until then is in the store.",
                remedy: "Run it again with another folder.", status: Interrupt.status)
        }
        try log.writeIndex()
        let extent = try log.reader.extent()
        try Output.print([
            "Simulated \(Number.counted(UInt64(history.steps.count), "step")) on "
                + "\(Number.counted(UInt64(devices), "device")) over \(Number.counted(UInt64(days), "day")): "
                + "\(Number.counted(extent.lastPosition.rawValue, "event")), "
                + "\(Number.counted(extent.users, "user")). \(Suggestion.next("whatif"))"
        ])
    }
}
