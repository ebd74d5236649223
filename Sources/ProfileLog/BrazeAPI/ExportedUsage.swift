internal import ProfileLogRequests

/// The apps and devices of an exported profile, as far as they are known (spec/rest-api 3).
struct ExportedUsage {
    let state: UsageState
    let workspace: Workspace
    /// The entries of `push_tokens`.
    let tokens: [AttributeValue]

    /// `[{name, platform, sessions, first_used, last_used}]`: the app on simulated devices, then those that events
    /// name.
    func writeApps(to json: inout JSONWriter) {
        let named = state.apps.sorted { $0.key < $1.key }
        guard state.appOnDevices != nil || !named.isEmpty else { return }
        json.key(ExportField.apps.rawValue)
        json.beginArray()
        if let use = state.appOnDevices { write(use, of: DeviceStorage.app.text, on: "iOS", to: &json) }
        for (id, use) in named {
            let app = workspace.app(id.text)
            write(use, of: app?.name ?? id.text, on: app?.platform, to: &json)
        }
        json.endArray()
    }

    private func write(_ use: UsageState.AppUse, of name: String, on platform: String?, to json: inout JSONWriter) {
        json.object { json in
            json.member("name", name)
            json.member("platform", platform)
            if use.sessions > 0 { json.member("sessions", use.sessions) }
            json.member("first_used", TrackTime.text(use.first))
            json.member("last_used", TrackTime.text(use.last))
        }
    }

    /// `[{device_id}]`: the simulated devices, then those that only push tokens name.
    func writeDevices(to json: inout JSONWriter) {
        if devices.isEmpty { return }
        json.objects(ExportField.devices.rawValue, devices) { json, device in
            json.member("device_id", device.text)
        }
    }

    private var devices: [Name] {
        var seen = state.devices
        let named = tokens.compactMap(PushToken.device)
        return state.devices.sorted() + named.filter { seen.insert($0).inserted }
    }
}
