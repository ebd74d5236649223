/// The handling of one input by a machine: it collects the steps, and folds each so that the next sees it.
extension InAppMachine {
    private var settings: InAppSettings { device.settings }

    mutating func run(_ input: Input) {
        switch input {
        case .launch(startsProcess: true): empty()
        case .launch(startsProcess: false): showWaiting(isReturn: true)
        default: showWaiting(isReturn: false)
        }
        switch input {
        case .launch: break
        case .sessionStart(let eligible, let catalogue):
            fix(eligible, catalogue)
            if !trigger(.sessionStart) { showTop() }
        case .event(let event):
            let isTriggered = trigger(event)
            if !isTriggered, case .pushOpened = event { showTop() }
        case .action(let action): act(action)
        }
    }

    private mutating func act(_ action: InAppAction) {
        switch action {
        case .timePassed: break
        case .next:
            guard let top = state.stack.last else { return refuse("the stack is empty") }
            display(top, at: now, isAsked: true)
        case .present(let message): present(message)
        case .click(let button): click(button)
        case .close:
            guard let item = state.screen else { return refuse(Self.nothingShown) }
            emit(.closed, item)
        case .logImpression:
            guard let item = customView() else { return }
            emit(.shown, item, .impression, [.init("impression", .bool(true))])
        case .logClick(let button):
            guard let item = customView(), hasButton(button, item) else { return }
            emit(.clicked, item, .click, action: button)
        }
    }

    // MARK: - Sessions and time

    /// A new process: what the old process had in memory is gone.
    private mutating func empty() {
        for item in state.stack + state.delayed { emit(.discarded, item, .started) }
        if let item = state.screen { emit(.closed, item, .started) }
    }

    private mutating func fix(_ eligible: [Name], _ catalogue: UInt64) {
        let known = Set(eligible).filter { table[$0] != nil }.sorted()
        if known == state.eligible, catalogue == state.catalogue { return }
        let content = InAppContent.session(known, catalogue: catalogue)
        append(MessageStep(.sent, of: "", by: .inAppMessage, cause: cause, content: content))
    }

    /// Shows what became ready. In the foreground the timers were on time; on a return they are late.
    private mutating func showWaiting(isReturn: Bool) {
        guard device.isForeground else { return }
        let due = state.delayed.enumerated().filter { $0.element.readyAt <= now }
            .sorted { ($0.element.readyAt, $0.offset) < ($1.element.readyAt, $1.offset) }
        for (_, item) in due { display(item, at: isReturn ? now : item.readyAt, isAsked: false) }
    }

    // MARK: - Triggers

    /// The most steps that say of one trigger that a message was ignored.
    private static let mostIgnored = 20

    /// Triggers messages by `event`, and tells whether one was triggered and not ignored.
    private mutating func trigger(_ event: TriggerEvent) -> Bool {
        var matches: [Int] = []
        table.forEachMatch(event) { if state.isEligible(table.messages[$0].id) { matches.append($0) } }
        reaction.isMiss = matches.isEmpty
        if matches.isEmpty { return false }

        var chosen: Int?
        var ignored: [(index: Int, reason: InAppReason)] = []
        for index in matches {
            if let reason = refusal(of: table.messages[index]) {
                ignored.append((index, reason))
            } else if chosen == nil {
                chosen = index
            } else {
                ignored.append((index, .lowerPriority))
            }
        }
        if let index = chosen, isWithinInterval {
            ignored.insert((index, .interval), at: 0)
            chosen = nil
        }
        let mark = AttributeValue.Member("trigger", .string(event.word))
        if let chosen { start(table.messages[chosen], mark) }
        ignore(ignored, mark)
        return chosen != nil
    }

    /// Records the first messages each in a step of its own; the last of these steps lists the rest as `others`.
    private mutating func ignore(_ ignored: [(index: Int, reason: InAppReason)], _ mark: AttributeValue.Member) {
        let first = ignored.prefix(Self.mostIgnored)
        for (place, (index, reason)) in first.enumerated() {
            var content = [mark]
            if place + 1 == Self.mostIgnored, ignored.count > first.count {
                let others = ignored[first.endIndex...].map { AttributeValue.string(table.messages[$0.index].id.text) }
                content.insert(.init("others", .array(others)), at: 0)
            }
            append(
                MessageStep(
                    .ignored, of: table.messages[index].id, by: .inAppMessage, cause: cause,
                    reason: reason.rawValue, content: content))
        }
    }

    /// Returns the reason why a message whose trigger matches is not triggered.
    private func refusal(of message: InAppMessage) -> InAppReason? {
        if !message.isOpen(at: now) {
            return message.startTime.map { $0.rawValue >= now } ?? false
                ? .beforeStart : .afterEnd
        }
        if state.screen?.message == message.id { return .onScreen }
        if state.isWaiting(message.id) { return .waitsAlready }
        guard let display = state.display(of: message.id, to: device.user) else { return nil }
        switch message.reEligibility {
        case .never: return .shownBefore
        case .always: return nil
        case .after(let seconds): return isLess(seconds, since: display.lastAt) ? .shownLately : nil
        }
    }

    private var isWithinInterval: Bool {
        state.lastTrigger.map { isLess(settings.minimumInterval, since: $0) } ?? false
    }

    /// Tells whether fewer than `seconds` have passed since `time`. A clock that was set back does not count.
    private func isLess(_ seconds: UInt32, since time: Int64) -> Bool {
        (0..<Int64(seconds) * 1_000_000).contains(now - time)
    }

    private mutating func start(_ message: InAppMessage, _ mark: AttributeValue.Member) {
        let delayEnd = now + Int64(message.delay) * 1_000_000
        let request = message.kind == .templated && device.isOnline ? Int64(settings.requestTime) * 1_000_000 : 0
        let item = InAppState.Triggered(
            message: message.id, user: device.user, readyAt: delayEnd + request,
            deadline: message.timeout.map { delayEnd + Int64($0) * 1_000_000 })
        guard item.readyAt > now else { return display(item, at: now, isAsked: false, mark) }
        let content = InAppContent.waiting(until: item.readyAt, deadline: item.deadline) + [mark]
        emit(.waiting, item, message.delay > 0 ? .delay : .request, content)
    }

    // MARK: - Display

    /// Shows the top of the stack, at an occasion for it (spec/device 7). Nothing is said of a message that goes on
    /// waiting.
    private mutating func showTop() {
        guard device.isForeground, state.screen == nil, settings.isDisplayAutomatic, let top = state.stack.last else {
            return
        }
        display(top, at: now, isAsked: false)
    }

    private mutating func present(_ message: Name) {
        guard table[message] != nil else { return refuse("there is no such message") }
        if state.screen?.message == message { return refuse(InAppReason.onScreen.rawValue) }
        let waiting = (state.stack + state.delayed).first { $0.message == message }
        display(
            waiting ?? .init(message: message, user: device.user, readyAt: now), at: now, isAsked: true)
    }

    /// Shows a message that is ready at `time`, or says why not. `isAsked`: by the app, so automatic display does not
    /// matter. `mark` is there if it was triggered just now.
    private mutating func display(
        _ item: InAppState.Triggered, at time: Int64, isAsked: Bool, _ mark: AttributeValue.Member? = nil
    ) {
        let marks = mark.map { [$0] } ?? []
        guard let message = table[item.message] else { return emit(.discarded, item, .undefined, marks) }
        let decision = settings.decision(about: message.id)
        let isOnStack = state.stack.contains { $0.message == item.message }
        if settings.guardsUser, item.user != device.user {
            emit(.discarded, item, .otherUser, marks)
        } else if let deadline = item.deadline, time > deadline {
            emit(.discarded, item, .late, marks)
        } else if !message.assets.isEmpty, settings.failingAssets.contains(message.id) {
            emit(.discarded, item, .asset, marks)
        } else if message.kind == .templated, !isOnStack, !device.isOnline {
            // On the stack it has its content already.
            emit(.discarded, item, .offline, marks)
        } else if message.isControl {
            emit(.shown, item, .control, [.init("control", .bool(true))] + marks)
        } else if !device.isForeground {
            emit(.waiting, item, .background, marks)
        } else if state.screen != nil {
            emit(.waiting, item, .anotherVisible, marks)
        } else if !settings.isDisplayAutomatic, !isAsked {
            emit(.waiting, item, .automaticOff, marks)
        } else if decision == .reenqueue {
            emit(.waiting, item, .reenqueued, marks)
        } else if decision == .discard {
            emit(.discarded, item, .delegate, marks)
        } else if message.orientation != .any, message.orientation.rawValue != settings.orientation.rawValue {
            emit(.discarded, item, .orientation, marks)
        } else {
            let content = (message.shownContent(on: settings.theme) + marks).sorted { $0.key < $1.key }
            emit(.shown, item, message.form == .custom ? .customView : nil, content)
        }
    }

    // MARK: - The message on the screen

    private static let nothingShown = "no message is on the screen"

    private mutating func click(_ button: Name?) {
        guard let item = state.screen else { return refuse(Self.nothingShown) }
        guard table[item.message]?.form != .custom else { return refuse(InAppReason.customView.rawValue) }
        guard hasButton(button, item) else { return }
        emit(.clicked, item, action: button)
        emit(.closed, item, .clicked)
    }

    private mutating func hasButton(_ button: Name?, _ item: InAppState.Triggered) -> Bool {
        guard let button, let message = table[item.message], !message.buttons.contains(button) else { return true }
        refuse("the message has no such button")
        return false
    }

    private mutating func customView() -> InAppState.Triggered? {
        guard let item = state.screen else {
            refuse(Self.nothingShown)
            return nil
        }
        guard table[item.message]?.form == .custom else {
            refuse("the SDK logs the impressions and clicks of this message itself")
            return nil
        }
        return item
    }

    // MARK: - Steps

    private mutating func refuse(_ reason: String) { reaction.refusal = reason }

    /// `content` is in ascending order of keys. A step of a message that waited or is shown is caused by its last one.
    private mutating func emit(
        _ stage: MessageStep.Stage, _ item: InAppState.Triggered, _ reason: InAppReason? = nil,
        _ content: [AttributeValue.Member] = [], action: Name? = nil
    ) {
        if stage == .waiting, !state.isWaiting(item.message) { makeRoom() }
        append(
            MessageStep(
                stage, of: item.message, by: .inAppMessage,
                cause: item.step > 0 ? Position(rawValue: item.step) : cause, reason: reason?.rawValue,
                action: action?.text, content: content))
    }

    /// Makes room, as at most 200 messages wait: the oldest goes.
    private mutating func makeRoom() {
        guard state.stack.count + state.delayed.count >= InAppMessage.maxMessages,
            let oldest = state.stack.first ?? state.delayed.first
        else { return }
        emit(.discarded, oldest, .stackFull)
    }

    private mutating func append(_ step: MessageStep) {
        state.apply(step, user: device.user, position: 0, at: now)
        reaction.steps.append(step)
    }
}
