/// The machine of a device's pushes: a part of the machine ``Device``, pure as that is.
///
/// A push is `sent` to the device. It is received, or will never be. What is shown can be expanded, opened or
/// dismissed, and its actions can be chosen. Each step is an event with its reason, and its cause is the step before.
/// Rules: spec/device 4, 5.2, 6.2 and 7.
package struct PushMachine {
    let device: Device
    let input: PushInput

    package init(_ device: Device, _ input: PushInput) {
        self.device = device
        self.input = input
    }

    typealias Action = Device.Action

    private var status: DeviceStatus { device.state.status }
    var settings: PushSettings { status.settings.push }

    /// The device's reaction: nothing if the input is refused.
    func handle() -> [Action] {
        if refusal != nil { return [] }
        switch input.intent {
        case .deliver(let limit): return deliver(limit)
        case .receive(let step): return receive(step)
        case .initialize: return initialize()
        case .forceQuit: return forceQuit()
        case .removeApp: return removeApp()
        case .expand(_, let way): return input.chosen.map { expand($0, way) } ?? []
        case .input(_, let text): return input.chosen.map { take(text, $0) } ?? []
        case .act(_, let action, let response): return input.chosen.map { act($0, action, response) } ?? []
        case .open: return input.chosen.map { open($0) } ?? []
        case .dismiss: return input.chosen.map { [step(.dismissed, $0)] } ?? []
        }
    }

    // MARK: - Delivery

    private func deliver(_ limit: Int) -> [Action] {
        guard status.settings.isOnline else { return [] }
        let underway = input.pushes.filter(\.progress.isUnderway)
        var shown = input.pushes.filter { !$0.progress.isUnderway }
        var actions: [Action] = []
        var added = 0
        var received = 0
        for (index, known) in underway.enumerated() {
            let isReplaced = underway[(index + 1)...].contains { known.push.isReplaced(by: $0.push) }
            if let obstacle = isReplaced ? .replaced : obstacle(known.push) {
                actions.append(step(.notReceived, known, reason: obstacle.rawValue))
                continue
            }
            if received == limit { continue }
            received += 1
            for old in shown where old.push.isReplaced(by: known.push) {
                actions.append(step(.dismissed, old, reason: PushReason.replaced.reason()))
            }
            shown.removeAll { $0.push.isReplaced(by: known.push) }
            let arrival = arrival(known.push, cause: known.progress.last, of: .user(known.progress.user))
            if isShown(known.push) { added += 1 }
            actions += arrival
        }
        return actions + makeRoom(among: shown, for: added)
    }

    /// The oldest of what is shown goes, if `added` more would be too many.
    private func makeRoom(among shown: [KnownPush], for added: Int) -> [Action] {
        shown.prefix(max(0, shown.count + added - PushState.mostShown)).map {
            step(.dismissed, $0, reason: PushReason.tooMany.reason("\(PushState.mostShown)"))
        }
    }

    private func receive(_ step: MessageStep) -> [Action] {
        let push = DeliveredPush(step, sentAt: device.now)
        if let obstacle = obstacle(push) {
            var refused = step
            refused.stage = .notReceived
            refused.reason = obstacle.rawValue
            return [Action(.message(refused), .current)]
        }
        let shown = input.pushes.filter { !$0.progress.isUnderway }
        let replaced = shown.filter { $0.push.isReplaced(by: push) }.map {
            self.step(.dismissed, $0, reason: PushReason.replaced.reason())
        }
        let room = makeRoom(among: shown.filter { !$0.push.isReplaced(by: push) }, for: isShown(push) ? 1 : 0)
        return replaced + arrival(push, cause: nil, of: .current, content: step.content) + room
    }

    private func isShown(_ push: DeliveredPush) -> Bool { push.hasBanner && settings.permission == .granted }

    /// Tells whether the push runs the app: not if the user swiped it away (spec/device 4, silent push).
    private func runsApp(_ push: DeliveredPush) -> Bool {
        push.wakesApp && status.launch > 0 && !settings.isForceQuit
    }

    /// Returns the reason why the device never gets the push; nil if it does.
    private func obstacle(_ push: DeliveredPush) -> LostPushReason? {
        if status.isRemoved { return .removed }
        if let expiry = push.expiry, expiry <= device.now { return .expired }
        if !settings.hasToken { return .noToken }
        if push.isSilent, status.launch == 0 { return .neverLaunched }
        if push.isSilent, settings.isForceQuit { return .forceQuit }
        return !push.isSilent && settings.permission == .granted || runsApp(push) ? nil : .notAllowed
    }

    /// The push is on the device: the part that is shown, and the immediate actions of the app and the SDK.
    private func arrival(
        _ push: DeliveredPush, cause: UInt64?, of owner: Device.Owner, content: [AttributeValue.Member] = []
    ) -> [Action] {
        var reasons: [String] = []
        var isCaptured = false
        var logged: [Action] = []
        if !push.isSilent {
            if settings.permission != .granted {
                reasons.append(LostPushReason.notAllowed.rawValue)
            } else if !push.hasBanner {
                reasons.append(PushReason.noBanner.reason(push.shownInstead))
            }
        }
        if !push.isBrazes { reasons.append(PushReason.notBrazes.reason()) }
        if runsApp(push) {
            if !status.settings.isSDKEnabled {
                reasons.append(PushReason.sdkDisabled.reason())
            } else if !settings.hasInstance, push.isBrazes {
                let reason = reasonNotCaptured(.received, isLaunching: false)
                isCaptured = reason == nil
                if let reason { reasons.append(reason) }
            } else {
                logged = serverEvent(push, &reasons)
            }
        } else if push.mayBeServerEvent {
            reasons.append(PushReason.notWoken.reason())
        }
        var received = MessageStep(
            .received, of: push.message, by: push.channel, cause: cause.map(Position.init(rawValue:)),
            reason: reasons.joined, dispatch: push.dispatch, content: content)
        received.screen = isShown(push) ? .notification : .nothing
        var actions = [Action(.message(received), owner)]
        if isCaptured { actions.append(captured(push, owner, screen: received.screen)) }
        return actions + logged
    }

    // MARK: - The SDK

    /// Returns the result of the app's handler of server events for a push that reached the app. Adds to `reasons` what
    /// is special about it, or why the handler does nothing.
    private func serverEvent(_ push: DeliveredPush, _ reasons: inout [String]) -> [Action] {
        guard push.mayBeServerEvent else { return [] }
        // The handler is in a delegate method, unless the app subscribes.
        if push.isBrazes, settings.startup.takes(.received), settings.startup.subscription == .never,
            settings.serverEvents != .off
        {
            reasons.append(PushReason.delegateNotCalled.reason())
            return []
        }
        switch ServerEvent.read(push, settings.serverEvents) {
        case .success(let event):
            reasons += event.reasons(isInForeground: status.isInForeground).map { $0.reason() }
            return log(event.event)
        case .failure(let unseen):
            reasons.append(unseen.reason)
            return []
        }
    }

    /// Returns the reason why the SDK that is to exist later does not capture the push; nil if it does (spec/device 4,
    /// delayed initialization).
    private func reasonNotCaptured(_ automation: PushAutomation, isLaunching: Bool) -> String? {
        let startup = settings.startup
        if startup.preparation == .never { return PushReason.notPrepared.reason() }
        if startup.preparation == .tooLate, isLaunching { return PushReason.preparedTooLate.reason() }
        if startup.automation.contains(automation) {
            return startup.analytics == .drop ? PushReason.payloadIgnored.reason() : nil
        }
        return PushReason.notAutomated.reason(
            automation == .received ? "handleBackgroundNotification" : "handleNotificationResponse")
    }

    private func captured(
        _ push: DeliveredPush, _ owner: Device.Owner, action: String? = nil, screen: MessageStep.Screen = .nothing
    ) -> Action {
        var step = MessageStep(
            .captured, of: push.message, by: push.channel, reason: PushReason.noInstance.reason(),
            dispatch: push.dispatch, action: action)
        step.screen = screen
        return Action(.message(step), owner, followsLastStep: true)
    }

    /// Returns the events that the app logs with the SDK: sent, queued, or lost with the instance that does not exist.
    private func log(_ event: CustomEvent) -> [Action] {
        guard status.settings.isSDKEnabled else { return [] }
        guard settings.hasInstance else {
            return [Action(.objectsLeftOut([.lost(.customEventLogged(event))]), .current)]
        }
        let isSent = device.state.queue.isEmpty && device.maySend(.timer)
        let logged = ProfileEvent.customEventLogged(event)
        return [Action(isSent ? logged : .queued(logged), .current)]
    }

    /// The app makes its instance: a session starts if the app is seen. What was captured is processed, also by an
    /// instance that a launch made since, of an app that does not wait any more.
    private func initialize() -> [Action] {
        var state = device.state
        state.status.settings.push.hasInstance = true
        let ready = Device(state: state, now: device.now, owners: device.owners)
        var actions: [Action] = []
        if !settings.hasInstance {
            actions.append(Action(.deviceChanged(state.status.settings), .current))
            if status.isInForeground { actions += ready.endSession() + [Action(.sessionStarted, .current)] }
        }
        for capture in input.captured { actions += PushMachine(ready, input).process(capture) }
        return actions
    }

    private func process(_ capture: KnownCapture) -> [Action] {
        let push = capture.push
        var reasons: [String] = []
        var logged: [Action] = []
        if settings.startup.isDelayed, settings.startup.subscription == .tooLate {
            reasons.append(PushReason.subscribedTooLate.reason())
        } else if !capture.wasOpened {
            logged = serverEvent(push, &reasons)
        }
        let content = capture.wasOpened ? push.opening(capture.action) : []
        return [processed(capture, reason: reasons.joined, content: content)] + logged
    }

    private func processed(
        _ capture: KnownCapture, reason: String?, content: [AttributeValue.Member] = []
    ) -> Action {
        let step = MessageStep(
            .processed, of: capture.push.message, by: capture.push.channel,
            cause: Position(rawValue: capture.captured.position), reason: reason, dispatch: capture.push.dispatch,
            action: capture.action, content: content)
        return Action(.message(step), .user(capture.captured.user))
    }

    private func forceQuit() -> [Action] {
        if settings.isForceQuit { return [] }
        var changed = status.settings
        changed.push.isForceQuit = true
        if changed.push.startup.isDelayed { changed.push.hasInstance = false }
        let left = status.isInForeground ? [Action(.appLeft, .current)] : []
        return left + [Action(.deviceChanged(changed), .current)]
    }

    /// The user removes the app: what waits, what the SDK has not sent, its pushes and its user go with it.
    private func removeApp() -> [Action] {
        if status.isRemoved { return [] }
        let reason = PushReason.appRemoved.reason()
        var actions = device.discard(
            device.state.items.values.sorted { $0.position < $1.position }, by: Discard.system, reason)
        for shown in input.pushes where !shown.progress.isUnderway {
            actions.append(step(.dismissed, shown, reason: reason))
        }
        actions += input.captured.map { processed($0, reason: reason) }
        let waiting = status.inApp.map { $0.stack + $0.delayed } ?? []
        let screen = status.inApp?.screen
        for (item, stage) in waiting.map({ ($0, MessageStep.Stage.discarded) }) + (screen.map { [($0, .closed)] } ?? [])
        {
            let cause = item.step > 0 ? Position(rawValue: item.step) : nil
            let step = MessageStep(stage, of: item.message, by: .inAppMessage, cause: cause, reason: reason)
            actions.append(Action(.message(step), .user(item.user)))
        }
        var changed = status.settings
        changed.isSDKEnabled = true
        // The token goes with the app, and the new one asks again.
        changed.push.permission = .notAsked
        changed.push.isForceQuit = false
        changed.push.hasInstance = true
        let isChanged = changed != status.settings
        return actions + device.endSession() + (isChanged ? [Action(.deviceChanged(changed), .current)] : [])
            + [Action(.appRemoved, .current)]
    }

    // MARK: - Opening

    /// The app comes to the screen, and the SDK gets the push. `isForwarded` says that it follows a chosen action.
    func open(
        _ known: KnownPush, action: String? = nil, isForwarded: Bool = false, note: PushReason? = nil
    ) -> [Action] {
        let push = known.push
        let kind: LaunchKind? =
            status.isInForeground ? nil : (status.launch == 0 || settings.isForceQuit ? .cold : .return)
        let settings = kind.map(device.settings(afterLaunch:)) ?? status.settings
        var reasons = [note].compactMap { $0?.reason() }
        var isCaptured = false
        var content: [AttributeValue.Member] = []
        if !push.isBrazes {
            reasons.append(PushReason.notBrazes.reason())
        } else if !settings.isSDKEnabled {
            reasons.append(PushReason.sdkDisabled.reason())
        } else if settings.push.hasInstance {
            content = push.opening(action)
        } else {
            let reason = reasonNotCaptured(.opened, isLaunching: kind == .cold)
            isCaptured = reason == nil
            if let reason { reasons.append(reason) }
        }
        let opened = step(
            .opened, known, reason: reasons.joined, action: action, content: content, followsLastStep: isForwarded)
        var actions = kind.map { device.launch($0, PendingKind.all) } ?? []
        actions.append(opened)
        if isCaptured { actions.append(captured(push, .user(known.progress.user), action: action)) }
        return actions
    }

    func step(
        _ stage: MessageStep.Stage, _ known: KnownPush, reason: String? = nil, action: String? = nil,
        content: [AttributeValue.Member] = [], screen: MessageStep.Screen = .nothing, followsLastStep: Bool = false
    ) -> Action {
        var step = MessageStep(
            stage, of: known.push.message, by: known.push.channel, cause: Position(rawValue: known.progress.last),
            reason: reason, dispatch: known.push.dispatch, action: action, content: content)
        step.screen = screen
        return Action(.message(step), .user(known.progress.user), followsLastStep: followsLastStep)
    }
}

extension [String] {
    /// One sentence; nil if there is nothing to say.
    fileprivate var joined: String? { isEmpty ? nil : joined(separator: "; ") }
}

extension DeliveredPush {
    fileprivate func isReplaced(by later: DeliveredPush) -> Bool {
        collapseID != nil && collapseID == later.collapseID && channel == later.channel
    }

    /// Returns the URL that the SDK opens for a tap or an action.
    fileprivate func opening(_ action: String?) -> [AttributeValue.Member] {
        let link = action.map { action in buttons.first { $0.id == Name(action) }?.link } ?? link
        return link.map { [.init("url", .string($0))] } ?? []
    }
}

extension ObjectRefusal {
    package static let reasonLost = "the app logged it before the SDK existed"

    /// An event that was logged on an instance of the SDK that does not exist (spec/device 4, not queued).
    package static func lost(_ event: ProfileEvent) -> ObjectRefusal {
        let (list, field): (String, String?) =
            switch event.content {
            case .customEvent(let event): ("events", event.name.text)
            case .purchase(let purchase): ("purchases", purchase.product.text)
            case .customAttributes(let changes): ("attributes", changes.first?.name.text)
            case .userAttributes(let changes): ("attributes", changes.first?.attribute.name)
            case nil: ("events", nil)
            }
        return ObjectRefusal(list: list, index: 0, field: field, reason: reasonLost)
    }
}
