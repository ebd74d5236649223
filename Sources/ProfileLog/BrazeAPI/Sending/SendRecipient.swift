internal import ProfileLogRequests
internal import ProfileLogSending

/// A user to whom a request sends: as the log has them, and as the attributes of the same request leave them.
struct SendRecipient: Recipient {
    /// Nil for a user whom the request makes.
    let user: UserInfo?
    /// The ID by which the request names them.
    let id: UserID
    let state: ProfileState
    /// What the request does to their attributes.
    let changes: [ProfileEvent]
    let log: EventLog
    /// Where a push can reach them, the one used last at the end.
    let devices: [PushDevice]

    /// A device with a push token.
    struct PushDevice {
        /// Nil for a token of no known device.
        var id: Name?
        /// Nil if nothing says which platform it is of.
        var isApple: Bool?
    }

    func value(_ attribute: StandardAttribute) -> AttributeValue? {
        var value = state.value(attribute)
        for case .userAttributesChanged(let all) in changes {
            for change in all where change.attribute == attribute { value = change.value }
        }
        if let value, value != .null { return value }
        switch attribute {
        case .emailSubscribe, .pushSubscribe: return .string("subscribed")
        case .email: return ids.lazy.compactMap { if case .email(let text) = $0 { .string(text) } else { nil } }.first
        case .phone: return ids.lazy.compactMap { if case .phone(let text) = $0 { .string(text) } else { nil } }.first
        default: return nil
        }
    }

    func customAttribute(_ name: Name) -> AttributeValue? {
        var value = log.customAttribute(name, of: state)
        for case .customAttributesChanged(let all) in changes {
            for change in all where change.name == name { value = change.operation.applied(to: value) }
        }
        return value
    }

    var externalID: String? { ids.lazy.compactMap { if case .externalID(let id) = $0 { id } else { nil } }.last }

    var brazeID: String { user?.brazeID ?? "" }

    var lastUsedApp: Timestamp? {
        let uses = [state.sessions, state.launches].filter { $0.count > 0 }
        return uses.map(\.last).max()
    }

    /// 0 to 9999, always the same for a user: by the ID that made them, which is known before they have a `braze_id`.
    var bucket: Int { ExportedProfile.randomBucket(ids.first.map { "\($0)" } ?? brazeID) }

    private var ids: [UserID] { user?.ids ?? [id] }
}

extension BrazeAPI {
    /// The user as a recipient.
    ///
    /// - Parameters:
    ///   - usage: the devices that they used; asked for if something is pushed.
    ///   - device: who is on a device.
    func recipient(
        _ user: UserInfo?, named id: UserID, _ state: ProfileState, _ changes: [ProfileEvent] = [],
        usage: (() throws -> UsageState)?, device: (Name) throws -> DeviceInfo?
    ) throws -> SendRecipient {
        let plain = SendRecipient(user: user, id: id, state: state, changes: changes, log: log, devices: [])
        guard let usage else { return plain }
        var devices: [SendRecipient.PushDevice] = []
        for entry in plain.value(.pushTokens)?.asArray ?? [] {
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
        return SendRecipient(user: user, id: id, state: state, changes: changes, log: log, devices: devices)
    }
}
