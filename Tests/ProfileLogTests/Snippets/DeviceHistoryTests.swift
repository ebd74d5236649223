import ProfileLog
import TestSupport
import Testing

@Suite("A made-up history of devices")
struct DeviceHistoryTests {
    let folder = TemporaryFolder()

    @Test("The same seed gives the same history, in the order of time, and another seed another")
    func repeatable() {
        let start = Timestamp(rawValue: 1_767_571_200_000_000)
        let one = DeviceHistory(seed: 1, devices: 12, days: 9, start: start).steps
        #expect(one == DeviceHistory(seed: 1, devices: 12, days: 9, start: start).steps)
        #expect(one != DeviceHistory(seed: 2, devices: 12, days: 9, start: start).steps)
        #expect(zip(one, one.dropFirst()).allSatisfy { $0.time <= $1.time })
    }

    @Test("What happens on a device has times of its own, in the order in which it happens")
    func order() {
        let start = Timestamp(rawValue: 1_767_571_200_000_000)
        let steps = DeviceHistory(seed: 3, devices: 40, days: 60, start: start).steps
        for (device, steps) in Dictionary(grouping: steps, by: \.device) {
            #expect(zip(steps, steps.dropFirst()).allSatisfy { $0.time < $1.time }, "\(device)")
            #expect(steps.first?.action == .launch(.cold), "\(device)")
            // A match is an event, and then its score as attributes.
            for (step, next) in zip(steps, steps.dropFirst()) {
                guard case .save(.customEventSaved(let event)) = step.action, event.name == "Completed Match Game"
                else { continue }
                if case .save(.customAttributesSaved) = next.action { continue }
                Issue.record("\(device): after a match at \(step.time) comes \(next.action)")
            }
        }
    }

    @Test("Played on a log, every saved item is accounted for, and live equals replay", arguments: UInt64(0)..<3)
    func played(seed: UInt64) throws {
        let log = try folder.open()
        let start = Timestamp(rawValue: 1_767_571_200_000_000)
        let history = DeviceHistory(seed: seed, devices: 12, days: 9, start: start)
        #expect(try history.play(on: log))
        try log.expectSound()
        #expect(try log.replay(verify: true).isEqual)
        let saved = try log.events(
            from: .start, limit: .max,
            where: EventFilter(kinds: [.customEventSaved, .customAttributesSaved, .userAttributeSaved]))
        #expect(!saved.events.isEmpty)
        for item in saved.events { #expect(try log.reader.items.outcome(of: item.position) != nil) }
    }
}
