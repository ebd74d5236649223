import ArgumentParser
import ProfileLog

struct AppendDevices: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "A store for folds: the input on devices, some of it saved there and flushed by a launch.")
    @OptionGroup var input: Input
    @Option(help: "Each user has one of so many devices.") var devices = 1_000
    @Option(help: "Of a hundred events, so many are saved and all others logged; with 0 there is no launch.")
    var saved = 20
    @Option(help: "Events between two launches; each is of the next device.") var every = 100

    func run() throws {
        guard devices > 0, every > 0, 0...100 ~= saved else {
            throw ValidationError("Devices and events between launches must be above 0, and saved from 0 to 100.")
        }
        var reader = try WorkloadReader(input.input)
        let log = try input.open()
        var (done, items, flushed, launches) = (0, 0, 0, 0)
        /// The devices' clock.
        var time: OccurredAt?
        func launchNext() throws {
            let report = try log.launch(
                device: WorkloadEvent.device(launches % devices),
                context: EventContext(source: .app, occurredAt: time))
            launches += 1
            for case .flushed in report.outcomes.values { flushed += 1 }
        }
        while done < input.count {
            let events = try reader.next(min(1_000_000, input.count - done))
            if events.count == 0 { break }
            for start in stride(from: 0, to: events.count, by: every) {
                let end = min(start + every, events.count)
                try log.append { append in
                    for index in start..<end {
                        // 37 has no factor in common with 100: saved and logged events are mixed.
                        let isSaved = (done + index) % 100 * 37 % 100 < saved
                        if isSaved { items += 1 }
                        try events.add(index, to: &append, devices: devices, isSaved: isSaved)
                    }
                }
                time = events.occurredAt(end - 1)
                if saved > 0 { try launchNext() }
            }
            done += events.count
        }
        if saved > 0 { for _ in 0..<devices { try launchNext() } }
        let last = try log.lastPosition()
        log.close()
        report([
            ("input", "\(done)"), ("events", "\(last.rawValue)"), ("saved", "\(items)"), ("flushed", "\(flushed)"),
            ("launches", "\(launches)"),
        ])
    }
}
