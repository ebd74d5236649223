/// A silent push that is a server event: the app logs `IAM Trigger`, which an in-app message waits for
/// (spec/device 5.2).
struct ServerEvent {
    /// What the app logs.
    let event: CustomEvent
    /// What the push says in `IS_SERVER_EVENT`.
    private let flag: AttributeValue

    /// Nil if the app's `handler` sees no server event in the push.
    init?(_ push: DeliveredPush, _ handler: ServerEventHandler) {
        guard let flag = push.pair("IS_SERVER_EVENT"), let campaign = push.pair("CAMPAIGN_NAME") else { return nil }
        switch handler {
        case .off: return nil
        case .objectiveC: break
        case .swift: guard flag.asText != nil, campaign.asText != nil else { return nil }
        }
        self.flag = flag
        event = CustomEvent(name: "IAM Trigger", properties: [.init("campaign_name", campaign)])
    }

    /// What is special about it.
    func remarks(isInForeground: Bool) -> [PushRemark] {
        var remarks = [PushRemark.serverEvent]
        if flag != .string("true"), flag != .bool(true) { remarks.append(.anyFlag) }
        if !isInForeground { remarks.append(.notInForeground) }
        return remarks
    }
}
