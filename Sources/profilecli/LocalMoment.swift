internal import Foundation
internal import ProfileLog

/// WHEN as people type it.
enum LocalMoment {
    /// `typed` as the API reads it anywhere: a local time with its zone. A span counts from the clock of the store, and
    /// what is unreadable is refused by the API: both stay.
    static func text(_ typed: String) -> String {
        if typed.hasPrefix("-") { return typed }
        return moment(typed)?.text ?? typed
    }

    /// Whether `typed` has a form of WHEN.
    static func canRead(_ typed: String) -> Bool { moment(typed) != nil }

    private static func moment(_ typed: String) -> Moment? {
        let zone = TimeZone.current
        return Moment(typed, now: .now()) { moment in
            zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(moment.rawValue) / 1_000_000))
        }
    }
}
