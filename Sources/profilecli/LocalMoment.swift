internal import Foundation
internal import ProfileLog

/// Times as people type them: without a zone they are those of the local clock.
enum LocalMoment {
    /// WHEN as the API reads it anywhere: a local time with its zone. A span counts from the clock of the store, and
    /// what is unreadable is refused by the API: both stay.
    static func text(_ typed: String) -> String {
        if typed.hasPrefix("-") { return typed }
        return moment(typed)?.text ?? typed
    }

    /// As ``text(_:)``, where only a time can be meant. A time with a zone keeps the zone, which is stored with it.
    static func time(_ typed: String) -> String {
        if typed.hasPrefix("-") { return typed }
        let zone = Self.zone
        var local: LocalTime?
        _ = Moment.time(typed, now: .now(), utcOffset: { offset(zone, $0) }, told: { local = $0 })
        guard let local else { return typed }
        tell(typed, local, zone)
        return local.time.rfc3339()
    }

    /// Tells whether `typed` has a form of WHEN.
    static func canRead(_ typed: String) -> Bool { moment(typed) != nil }

    private static func moment(_ typed: String) -> Moment? {
        let zone = Self.zone
        return Moment(typed, now: .now(), utcOffset: { offset(zone, $0) }, told: { tell(typed, $0, zone) })
    }

    private static func offset(_ zone: TimeZone, _ moment: Timestamp) -> Int {
        zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(moment.rawValue) / 1_000_000))
    }

    // MARK: - What the clocks do

    /// Says once on standard error what `typed` does not tell of its moment.
    private static func tell(_ typed: String, _ local: LocalTime, _ zone: TimeZone) {
        if let name = unknownZone {
            Output.note("TZ=\(name) is no time zone that is known here, so a time without a zone is UTC.")
        }
        let moment = local.time.rfc3339()
        if let earlier = local.earlier {
            Output.note(
                "\(typed) comes twice in \(zone.identifier), where the clocks go back. The second is taken, \(moment); "
                    + "the first is \(earlier.rfc3339()).")
        }
        if local.isSkipped {
            Output.note(
                "\(typed) does not exist in \(zone.identifier), where the clocks go forward. \(moment) is taken, "
                    + "which is so long after the change.")
        }
    }

    /// The zone of times without one.
    private static var zone: TimeZone { namedZone ?? .current }

    /// The zone that TZ names, also in the forms of the C library: `:Europe/Berlin`, or a file of the zones' folder.
    private static var namedZone: TimeZone? {
        guard var name = Terminal.environment("TZ")?.drop(while: { $0 == ":" }), !name.isEmpty else { return nil }
        let folder = "/usr/share/zoneinfo/"
        if name.hasPrefix(folder) { name = name.dropFirst(folder.count) }
        return TimeZone(identifier: String(name))
    }

    /// The value of TZ, if it names no zone.
    private static var unknownZone: String? {
        guard let name = Terminal.environment("TZ"), !name.isEmpty else { return nil }
        // Foundation takes UTC for what it does not know, as the system does.
        return namedZone != nil || ["UTC0", "GMT0"].contains(name) ? nil : name
    }
}
