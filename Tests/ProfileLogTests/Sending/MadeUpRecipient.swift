import ProfileLogSending

/// A user with the attributes that a test gives.
struct MadeUpRecipient: Recipient {
    var attributes: [StandardAttribute: AttributeValue] = [:]
    var customAttributes: [Name: AttributeValue] = [:]
    var externalID: String? = "ana"
    var brazeID = "b1"
    var lastUsedApp: Timestamp?

    func value(_ attribute: StandardAttribute) -> AttributeValue? { attributes[attribute] }
    func customAttribute(_ name: Name) -> AttributeValue? { customAttributes[name] }

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
