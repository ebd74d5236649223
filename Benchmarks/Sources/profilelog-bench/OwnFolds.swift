import Foundation
import ProfileLog

/// Replays of an embedder's projections, in turn with that of the profile.
struct OwnFolds {
    let log: EventLog
    let threads: Int

    /// Medians, and the shares of the profile's.
    func fields(turns: Int) throws -> [(String, String)] {
        var profile: [Double] = []
        var own: [(name: String, rates: [Double])] = [("user", []), ("store", []), ("device", [])]
        for _ in 0..<max(1, turns) {
            profile.append(try rate(ProfileProjection.self))
            own[0].rates.append(try rate(MinutesOfUser.self))
            own[1].rates.append(try rate(MinutesOfAll.self))
            own[2].rates.append(try rate(MinutesOnDevice.self))
        }
        let base = median(profile)
        var fields = [("profile_events_per_s", format(base))]
        for (name, rates) in own {
            fields.append((name + "_events_per_s", format(median(rates))))
            fields.append((name + "_share", String(format: "%.3f", median(rates) / base)))
        }
        return fields
    }

    /// Events per second of a replay.
    private func rate<P: Projection>(_: P.Type) throws -> Double {
        let clock = ContinuousClock()
        let begin = clock.now
        let replayer = Replayer<P>(log, threads: threads)
        try replayer.run()
        let seconds = (clock.now - begin).seconds
        // Its states are freed after the clock has stopped.
        withExtendedLifetime(replayer) {}
        return Double(try log.lastPosition().rawValue) / seconds
    }
}

/// A state that the library encodes: minutes, and the events that had some.
private struct Minutes: Codable, Equatable, Sendable {
    var events = 0
    var minutes: Int64 = 0

    mutating func add(_ event: borrowing EventView) {
        guard case .customEvent? = event.content, case .int(let more)? = event.property("minutes") else { return }
        events += 1
        minutes += more
    }
}

private enum MinutesOfUser: UserProjection {
    static let name = "bench-minutes"
    static let revision: UInt32 = 1
    static let initial = Minutes()

    static func apply(_ event: borrowing EventView, to minutes: inout Minutes) { minutes.add(event) }

    static func merge(_ source: Minutes, into target: inout Minutes, by event: borrowing EventView) {
        target.events += source.events
        target.minutes += source.minutes
    }
}

private enum MinutesOfAll: StoreProjection {
    static let name = "bench-all-minutes"
    static let revision: UInt32 = 1
    static let initial = Minutes()
    static func apply(_ event: borrowing EventView, to minutes: inout Minutes) { minutes.add(event) }
}

private enum MinutesOnDevice: DeviceProjection {
    static let name = "bench-device-minutes"
    static let revision: UInt32 = 1
    static let initial = Minutes()
    static func apply(_ event: borrowing EventView, to minutes: inout Minutes) { minutes.add(event) }
}
