/// An expanded push: the content extension, its input and its actions (spec/device 7).
extension PushMachine {
    func expand(_ known: KnownPush, _ way: Expansion) -> [Action] {
        let reason = reasonForDefaultInterface(known.push)
        return [
            step(
                .expanded, known, reason: reason ?? PushReason.extensionInterface.reason(),
                content: [.init("way", .string(way.rawValue))],
                screen: reason == nil ? .extensionInterface : .defaultInterface)
        ]
    }

    /// Returns the reason why the system shows its own interface; nil if the extension shows the push.
    private func reasonForDefaultInterface(_ push: DeliveredPush) -> String? {
        guard let contentExtension = settings.contentExtension else { return PushReason.noExtension.reason() }
        let categories = contentExtension.categories.map(\.text).joined(separator: ", ")
        guard let category = push.category else { return PushReason.noCategory.reason(categories) }
        guard contentExtension.categories.contains(category) else {
            return PushReason.otherCategory.reason(category.text, categories)
        }
        return push.missing(for: contentExtension).map { PushReason.extensionStopped.reason($0) }
    }

    /// Takes the input of an information capture. Without user interaction in the extension a touch opens the app.
    func take(_ text: String, _ known: KnownPush) -> [Action] {
        guard let contentExtension = settings.contentExtension, let input = contentExtension.input else { return [] }
        guard contentExtension.allowsInteraction else {
            return open(known, note: .noInteraction)
        }
        let isValid = input.accepts(text)
        return [
            step(
                .actionChosen, known, reason: isValid ? nil : PushReason.wrongInput.reason(input.refusal),
                action: "input", screen: isValid ? .validInput : .extensionInterface)
        ]
    }

    func act(_ known: KnownPush, _ action: String, _ response: ExtensionResponse?) -> [Action] {
        let screen = known.progress.screen
        let closes = known.closes(action)
        switch response ?? (closes ? .dismiss : screen == .validInput ? .doNotDismiss : .dismissAndForward) {
        case .never:
            let reason = PushReason.noCompletion.reason()
            return [step(.actionChosen, known, reason: reason, action: action, screen: screen)]
        case .doNotDismiss:
            return [
                step(.actionChosen, known, action: action, screen: screen == .validInput ? .confirmation : screen)
            ]
        case .dismiss:
            let chosen = step(.actionChosen, known, action: action, screen: screen)
            return [chosen, step(.dismissed, known, reason: PushReason.closed.reason(action), followsLastStep: true)]
        case .dismissAndForward:
            let chosen = step(.actionChosen, known, action: action, screen: screen)
            return [chosen] + open(known, action: action, isForwarded: true)
        }
    }

    // MARK: - Refusals

    /// The reason why the input cannot happen; nil if it can.
    package var refusal: PushRefusal? {
        switch input.intent {
        case .deliver, .initialize: return nil
        case .removeApp:
            return device.state.status.launch > 0 || device.state.status.isRemoved
                ? nil : PushRefusal("The app", "is not on the device: it was never launched", "Launch it first.")
        case .receive:
            return device.state.settings.isOnline
                ? nil : PushRefusal("The device", "is offline, and no push reaches it", "Set `online` of the device.")
        case .forceQuit:
            return device.state.status.launch > 0
                ? nil : PushRefusal("The app", "was never launched on the device", "Launch it first.")
        case .expand, .input, .act, .open, .dismiss: break
        }
        guard let known = input.chosen else {
            return PushRefusal("The push", "is not on the screen of the device", "Deliver one first.")
        }
        if known.progress.isUnderway {
            return PushRefusal("The push", "is on its way to the device", "Deliver it first.")
        }
        return refusal(known)
    }

    private func refusal(_ known: KnownPush) -> PushRefusal? {
        let screen = known.progress.screen
        switch input.intent {
        case .expand:
            return screen == .notification
                ? nil : PushRefusal("The push", "is expanded already", "Choose an action, or dismiss it.")
        case .input:
            guard screen == .extensionInterface || screen == .validInput else {
                return PushRefusal(
                    "The push", "does not show the interface of an extension that takes input",
                    screen == .notification ? Self.expandFirst : remedyForDefaultInterface(known.push))
            }
            return settings.contentExtension?.input == nil
                ? PushRefusal(
                    "The content extension", "asks for no input", "Set `input` of the device's `content_extension`.")
                : nil
        case .act(_, let action, let response): return refusal(known, action, response)
        case .open, .dismiss, .deliver, .receive, .initialize, .forceQuit, .removeApp: return nil
        }
    }

    private static let expandFirst = "Expand it first."

    /// Names the next step towards the extension's interface.
    private func remedyForDefaultInterface(_ push: DeliveredPush) -> String {
        guard let contentExtension = settings.contentExtension else {
            return "Set `content_extension` of the device before the push is expanded."
        }
        if let category = push.category, contentExtension.categories.contains(category) {
            return "Send the push with the key-value pairs that the extension needs: "
                + contentExtension.pairs.map(\.key.text).joined(separator: ", ") + "."
        }
        let categories = contentExtension.categories.map(\.text).joined(separator: ", ")
        return "Send the push with a category of the extension: \(categories)."
    }

    private func refusal(_ known: KnownPush, _ action: String, _ response: ExtensionResponse?) -> PushRefusal? {
        let screen = known.progress.screen
        if screen == .notification {
            return PushRefusal("The push", "is not expanded, so its buttons are not shown", Self.expandFirst)
        }
        if let refusal = known.push.refusal(ofButton: action) { return refusal }
        if screen == .defaultInterface, response != nil {
            return PushRefusal(
                "The response", "has no extension that gives it: the push shows the default interface",
                "Leave it out. " + remedyForDefaultInterface(known.push))
        }
        if screen == .extensionInterface, settings.contentExtension?.input != nil, !known.closes(action) {
            return PushRefusal(
                "The button \(action)", "is shown when the input is valid", "Give valid input first (`input`).")
        }
        return nil
    }
}

/// The reason why something cannot happen to a push.
package struct PushRefusal: Hashable, Sendable {
    package let place: String
    package let reason: String
    package let remedy: String

    init(_ place: String, _ reason: String, _ remedy: String) {
        (self.place, self.reason, self.remedy) = (place, reason, remedy)
    }
}

extension DeliveredPush {
    /// Returns the reason why the push shows no such button. Without buttons of its own it shows those that the app
    /// registered for its category, which are not known here: any of them is taken.
    fileprivate func refusal(ofButton action: String) -> PushRefusal? {
        let buttons = buttons.map(\.id.text)
        if buttons.contains(where: { $0.hasSameBytes(as: action) }) { return nil }
        if buttons.isEmpty {
            if category != nil { return nil }
            return PushRefusal(
                "The push", "has no buttons and no category", "Send it with `buttons`, or with a category of the app.")
        }
        let nearest = NearestNames(to: action, among: buttons)
        return PushRefusal(
            "The button", "is none of the push's",
            nearest.close.first.map { "Did you mean `\($0)`?" }
                ?? "The buttons are \(nearest.all.joined(separator: ", ")).")
    }
}

extension KnownPush {
    /// Tells whether the action closes the push and opens nothing. `CLOSE` is that of the demo app.
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
