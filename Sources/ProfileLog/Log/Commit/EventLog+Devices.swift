extension EventLog {
    // MARK: - Devices

    /// The items that wait on `device`: those that the next launch hands over, in the order in which they were saved,
    /// then those that the SDK has taken and not sent.
    public func waiting(on device: String) throws -> [RecordedEvent] {
        try withReader { log in try log.devices.pending(on: device) + log.devices.queue(on: device) }
    }

    /// The outcome of the saved item at `position`, or of a logged one that the SDK had to queue; nil if no such item
    /// is there. Reads its user's history after it.
    public func outcome(of position: Position) throws -> ItemOutcome? {
        try withReader { log in try log.items.outcome(of: position) }
    }

    /// Puts the user with this ID on `device`, as the SDK's `changeUser`; an unknown user is made. What the SDK had
    /// taken of the user before is sent first. An anonymous user becomes the new one, or is merged into a known one.
    @discardableResult
    public func changeUser(
        on device: String, to user: UserID, context: EventContext = .app
    ) throws(AppendError) -> AppendReceipt {
        try changeUser(device: device, to: user, context: context)
    }

    /// The user of `device` logs out: the SDK forgets what it has not sent, and is disabled.
    @discardableResult
    public func logOut(on device: String, context: EventContext = .app) throws(AppendError) -> AppendReceipt {
        try logOut(device: device, context: context)
    }

    /// Changes how `device` is set up. The SDK then sends what it may: what it queued without a network, for one.
    ///
    /// The receipt is empty if the device was set up so before. Of a setting that is given twice the last counts.
    ///
    /// ```swift
    /// try log.set(.online(true), .sendsEvery(seconds: 10), on: "phone")
    /// ```
    @discardableResult
    public func set(
        _ settings: DeviceSetting..., on device: String, context: EventContext = .app
    ) throws(AppendError) -> AppendReceipt {
        try change(SettingsChange(settings), of: device, context: context)
    }

    /// How `device` is set up; an unknown device has the defaults.
    public func settings(of device: String) throws -> DeviceSettings {
        try withReader { log in try log.devices.state(of: device).settings }
    }

    /// The app on `device` asks its SDK to send what it took, without waiting for its interval. The answer has the
    /// positions of the `dataSent` events: none without a network, or if there was nothing to send.
    @discardableResult
    public func send(from device: String, context: EventContext = .app) throws(AppendError) -> [Position] {
        try send(from: device, .request, context)
    }

    /// Gives up those of `items` that wait on `device`: they never take effect. `actor` and `reason` have 1 to 1,024
    /// bytes each and stay in the log for ever.
    @discardableResult
    public func discard(
        _ items: [Position], on device: String, actor: String, reason: String, context: EventContext = .app
    ) throws(AppendError) -> AppendReceipt {
        try commit(
            .discard(device: device, .positions(Set(items)), actor: actor, reason: reason, context: context))
    }

    /// Saves the rejected item at `position` again, as it is or corrected: it waits for the next launch of its device,
    /// with the time of the first save. The same retry, sent again, changes nothing.
    @discardableResult
    public func retry(_ position: Position, as correction: ProfileEvent? = nil) throws -> AppendReceipt {
        try commit(.repair(of: position, with: correction, source: .app, in: self))
    }
}

extension SettingsChange {
    /// The change that gives a device these settings.
    fileprivate init(_ settings: [DeviceSetting]) {
        self.init()
        for setting in settings {
            switch setting {
            case .online(let isOnline): self.isOnline = isOnline
            case .sdkEnabled(let isEnabled): isSDKEnabled = isEnabled
            case .sendsEvery(let seconds): (requestPolicy, flushInterval) = (.automatic, seconds)
            case .sendsOnRequest: requestPolicy = .manual
            case .sessionTimeout(let seconds): sessionTimeout = seconds
            case .appGroup(let group, let process, let isMissing):
                let target = DeviceSettings.MissingAppGroup(process: process, group: group)
                withoutAppGroup.removeAll { $0 == target }
                withAppGroup.removeAll { $0 == target }
                if isMissing { withoutAppGroup.append(target) } else { withAppGroup.append(target) }
            }
        }
    }
}
