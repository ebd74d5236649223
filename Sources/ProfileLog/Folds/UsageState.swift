/// The apps and devices that one user used.
package struct UsageState: Hashable, Sendable {
    /// The apps that events name, by the REST format's `app_id`.
    package var apps: [Name: AppUse] = [:]
    /// The app on simulated devices; nil if it was never launched for the user.
    package var appOnDevices: AppUse?
    /// The simulated devices on which the user was, or from which something of the user took effect.
    package var devices: Set<Name> = []

    package struct AppUse: Hashable, Sendable {
        /// The number of known sessions; 0 for an app that only events name.
        package var sessions: UInt64 = 0
        /// The earliest use.
        package var first: Timestamp
        /// The latest use.
        package var last: Timestamp
    }
}

extension UsageState {
    mutating func use(_ app: Name, at time: Timestamp) {
        apps[app] = AppUse(first: time, last: time).joined(apps[app])
    }

    /// Counts a launch of the app on `device`, or one of its sessions.
    mutating func useApp(on device: Name, at time: Timestamp, sessions: UInt64) {
        devices.insert(device)
        appOnDevices = AppUse(sessions: sessions, first: time, last: time).joined(appOnDevices)
    }

    mutating func merge(_ source: UsageState) {
        apps.merge(source.apps) { $0.joined($1) }
        appOnDevices = appOnDevices?.joined(source.appOnDevices) ?? source.appOnDevices
        devices.formUnion(source.devices)
    }
}

extension UsageState.AppUse {
    /// Joins both.
    fileprivate func joined(_ other: Self?) -> Self {
        guard let other else { return self }
        return Self(
            sessions: sessions + other.sessions, first: min(first, other.first), last: max(last, other.last))
    }
}
