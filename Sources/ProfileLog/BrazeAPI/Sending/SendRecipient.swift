internal import ProfileLogMessaging
internal import ProfileLogRequests

/// A recipient of a request's sends, as a user of the store.
struct SendRecipient: ReachableRecipient {
    /// As the log has them, and as the attributes of the same request leave them.
    let profile: ProfileSubject
    /// Devices that a push can reach, the one used last at the end.
    let devices: [PushDevice]

    func value(_ attribute: StandardAttribute) -> AttributeValue? { profile.value(attribute) }

    func customAttribute(_ name: Name) -> AttributeValue? { profile.customAttribute(name) }

    var externalID: String? { profile.externalID }

    var brazeID: String { profile.user?.brazeID ?? "" }

    /// 0 to 9999, always the same for a user: by the ID that made them, which is known before they have a `braze_id`.
    var bucket: Int { ExportedProfile.randomBucket(profile.ids.first.map { "\($0)" } ?? brazeID) }
}

extension BrazeAPI {
    /// The user as a recipient.
    ///
    /// - Parameters:
    ///   - usage: the devices that they used; asked for if something is pushed.
    ///   - device: who is on a device.
    func recipient(
        _ user: UserInfo?, named id: UserID, _ state: ProfileState, _ changes: [ProfileEvent] = [],
        usage: (() throws -> UsageState)?, device: (Name) throws -> DeviceState?
    ) throws -> SendRecipient {
        let profile = ProfileSubject(user, ids: user?.ids ?? [id], state, changes: changes, in: store.reader)
        guard let usage else { return SendRecipient(profile: profile, devices: []) }
        var devices: [PushDevice] = []
        for entry in profile.value(.pushTokens)?.asArray ?? [] {
            guard let token = PushToken(entry) else { continue }
            let platform = workspace.app(token.app)?.platform?.lowercased()
            // Their channels are not simulated.
            if let platform, ["web", "kindle"].contains(where: platform.contains) { continue }
            devices.append(.init(id: PushToken.device(entry), isApple: platform.map { !$0.contains("android") }))
        }
        // The app on a simulated device has registered for pushes when it was launched.
        var launched: [(position: Position, device: Name)] = []
        if let number = user?.number {
            for name in try usage().devices where !devices.contains(where: { $0.id == name }) {
                guard let info = try device(name), info.user == number, let launch = info.lastLaunch,
                    info.settings.push.hasToken
                else { continue }
                launched.append((launch, name))
            }
        }
        devices += launched.sorted { $0.position < $1.position }.map { .init(id: $0.device, isApple: true) }
        return SendRecipient(profile: profile, devices: devices)
    }
}
