import ProfileLogFolds
import ProfileLogMessaging

/// A user with the attributes that a test gives.
struct MadeUpRecipient: Recipient, ConditionSubject {
    var attributes: [StandardAttribute: AttributeValue] = [:]
    var customAttributes: [Name: AttributeValue] = [:]
    var externalID: String? = "ana"
    var brazeID = "b1"
    var lastUsedApp: Timestamp?

    func value(_ attribute: StandardAttribute) -> AttributeValue? { attributes[attribute] }
    func customAttribute(_ name: Name) -> AttributeValue? { customAttributes[name] }

    func value(of field: Condition.Field, at now: Timestamp) -> AttributeValue? {
        switch field {
        case .attribute(let attribute):
            value(attribute) ?? ([.emailSubscribe, .pushSubscribe].contains(attribute) ? "subscribed" : nil)
        case .customAttribute(let name): customAttribute(name)
        case .lastUsedApp: lastUsedApp.map { .date(OccurredAt($0)) }
        default: nil
        }
    }

    /// 2026-03-01, a Sunday, at 12:30:05 UTC.
    static let now = Timestamp(rawValue: 1_772_368_205_000_000)

    /// A context with this user; `trigger` are properties of the send.
    func context(
        trigger: AttributeValue = .null, entry: AttributeValue = .null, budget: RenderBudget = RenderBudget()
    ) -> RenderContext {
        RenderContext(
            recipient: self, properties: [.trigger: trigger, .canvasEntry: entry],
            message: [.dispatchID: "d1", .apiID: "c1", .name: "Spring"], now: Self.now,
            budget: budget)
    }
}
