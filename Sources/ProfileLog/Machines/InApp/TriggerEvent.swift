/// An event that may trigger an in-app message on a device (spec/device 5).
package enum TriggerEvent: Hashable, Sendable {
    case sessionStart
    /// A push was opened: of this campaign, if it has one.
    case pushOpened(campaign: Name? = nil)
    case purchase(Purchase)
    case customEvent(CustomEvent)

    /// Makes the trigger event of what the SDK logged; nil if it triggers nothing.
    ///
    /// Only events that the SDK on the device logs trigger messages (spec/device 5, source): the caller passes no
    /// others. An event that the SDK has not sent yet triggers as well, so messages work offline. A saved one does not:
    /// a launch that flushes it logs it.
    package init?(logged event: ProfileEvent) {
        if case .queued(let event) = event {
            self.init(logged: event)
        } else if case .customEventLogged(let event) = event {
            self = .customEvent(event)
        } else if case .purchaseLogged(let purchase) = event {
            self = .purchase(purchase)
        } else {
            return nil
        }
    }

    /// The type of the condition that it meets, for the steps of messages.
    package var word: String {
        switch self {
        case .sessionStart: TriggerCondition.Word.open.rawValue
        case .pushOpened: TriggerCondition.Word.pushClick.rawValue
        case .purchase: TriggerCondition.Word.purchase.rawValue
        case .customEvent: TriggerCondition.Word.customEvent.rawValue
        }
    }
}
