/// An expanded push: the content extension, its input and its actions (spec/device 7).
extension PushMachine {
    func expand(_ known: KnownPush, _ way: Expansion) -> [Action] {
        let reason = reasonForDefaultInterface(known.push)
        return [
            step(
                .expanded, known, reason: reason ?? "the interface of the content extension",
                content: [.init("way", .string(way.rawValue))],
                screen: reason == nil ? .extensionInterface : .defaultInterface)
        ]
    }

    /// Why the system shows its own interface; nil if the extension shows the push.
    private func reasonForDefaultInterface(_ push: DeliveredPush) -> String? {
        guard let contentExtension = settings.contentExtension else {
            return "the default interface: the app has no content extension"
        }
        let categories = contentExtension.categories.map(\.text).joined(separator: ", ")
        guard let category = push.category else {
            return "the default interface: the push has no category, the extension is for \(categories)"
        }
        guard contentExtension.categories.contains(category) else {
            return "the default interface: the push has the category \(category), the extension is for \(categories)"
        }
        return push.missing(for: contentExtension).map { "the default interface: the extension stopped, as \($0)" }
    }

    /// The input of an information capture. Without user interaction in the extension a touch opens the app.
    func take(_ text: String, _ known: KnownPush) -> [Action] {
        guard let contentExtension = settings.contentExtension, let input = contentExtension.input else { return [] }
        guard contentExtension.allowsInteraction else {
            return open(known, remark: "the extension has no user interaction: the touch opened the app")
        }
        let isValid = input.accepts(text)
        return [
            step(
                .actionChosen, known, reason: isValid ? nil : "the input is \(input.refusal)", action: "input",
                screen: isValid ? .validInput : .extensionInterface)
        ]
    }

    func act(_ known: KnownPush, _ action: String, _ response: ExtensionResponse?) -> [Action] {
        let screen = known.progress.screen
        let closes = known.closes(action)
        switch response ?? (closes ? .dismiss : screen == .validInput ? .doNotDismiss : .dismissAndForward) {
        case .never:
            let reason = "the extension never calls its completion: the push stays, and the app is not told"
            return [step(.actionChosen, known, reason: reason, action: action, screen: screen)]
        case .doNotDismiss:
            return [
                step(.actionChosen, known, action: action, screen: screen == .validInput ? .confirmation : screen)
            ]
        case .dismiss:
            let chosen = step(.actionChosen, known, action: action, screen: screen)
            return [chosen, step(.dismissed, known, reason: "\(action) closes it", followsLastStep: true)]
        case .dismissAndForward:
            let chosen = step(.actionChosen, known, action: action, screen: screen)
            return [chosen] + open(known, action: action, isForwarded: true)
        }
    }

    // MARK: - Refusals

    /// Why the input cannot happen; nil if it can.
    package var refusal: (place: String, reason: String)? {
        switch input.intent {
        case .deliver, .initialize: return nil
        case .receive:
            return device.state.settings.isOnline ? nil : ("The device", "is offline, and no push reaches it")
        case .forceQuit:
            return device.state.status.launch > 0 ? nil : ("The app", "was never launched on the device")
        case .expand, .input, .act, .open, .dismiss: break
        }
        guard let known = input.chosen else { return ("The push", "is not on the screen of the device") }
        if known.progress.isUnderway { return ("The push", "is on its way to the device: let it be delivered first") }
        return refusal(known)
    }

    private func refusal(_ known: KnownPush) -> (place: String, reason: String)? {
        let screen = known.progress.screen
        switch input.intent {
        case .expand: return screen == .notification ? nil : ("The push", "is expanded already")
        case .input:
            guard screen == .extensionInterface || screen == .validInput else {
                return ("The push", "does not show the interface of an extension that takes input")
            }
            return settings.contentExtension?.input == nil ? ("The content extension", "asks for no input") : nil
        case .act(_, let action, let response): return refusal(known, action, response)
        case .open, .dismiss, .deliver, .receive, .initialize, .forceQuit: return nil
        }
    }

    private func refusal(
        _ known: KnownPush, _ action: String, _ response: ExtensionResponse?
    ) -> (place: String, reason: String)? {
        let screen = known.progress.screen
        if screen == .notification { return ("The push", "is not expanded, so its buttons are not shown") }
        if screen == .defaultInterface, response != nil {
            return ("The response", "has no extension that gives it: the push shows the default interface")
        }
        if screen == .extensionInterface, settings.contentExtension?.input != nil, !known.closes(action) {
            return ("The button \(action)", "is shown when the input is valid")
        }
        let buttons = known.push.buttons.map(\.id)
        if screen == .defaultInterface, !buttons.isEmpty, !buttons.contains(Name(action)) {
            let known = buttons.map(\.text).joined(separator: ", ")
            return ("The action", "is none of the buttons of the push, \(known)")
        }
        return nil
    }
}

extension KnownPush {
    /// Whether the action closes the push and opens nothing. `CLOSE` is that of the demo app.
    fileprivate func closes(_ action: String) -> Bool {
        push.buttons.first { $0.id == Name(action) }?.closes ?? (action == "CLOSE")
    }
}

extension ContentExtension.Input {
    fileprivate var refusal: String {
        switch self {
        case .email: "no e-mail address"
        case .phone: "no phone number"
        case .text: "empty"
        }
    }
}
