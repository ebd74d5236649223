/// A silent push that is a server event: the app logs `IAM Trigger`, which an in-app message waits for
/// (spec/device 5.2).
struct ServerEvent {
    /// The event that the app logs.
    let event: CustomEvent
    /// The value of `IS_SERVER_EVENT` in the push.
    private let flag: AttributeValue

    /// The reason why the app's code sees no server event.
    struct Unseen: Error {
        let reason: String
    }

    /// Returns the data that the app's `handler` sees in a push with extras of a server event.
    static func read(_ push: DeliveredPush, _ handler: ServerEventHandler) -> Result<ServerEvent, Unseen> {
        func unseen(_ note: PushReason, _ gap: String...) -> Result<ServerEvent, Unseen> {
            .failure(Unseen(reason: gap.isEmpty ? note.reason() : note.reason(gap[0])))
        }
        if handler == .off { return unseen(.noHandler) }
        guard let flag = push.pair("IS_SERVER_EVENT") else { return unseen(.missingExtra, "IS_SERVER_EVENT") }
        guard let campaign = push.pair("CAMPAIGN_NAME") else { return unseen(.missingExtra, "CAMPAIGN_NAME") }
        if handler == .swift {
            if flag.asText == nil { return unseen(.extraNotText, "IS_SERVER_EVENT") }
            if campaign.asText == nil { return unseen(.extraNotText, "CAMPAIGN_NAME") }
        }
        let event = CustomEvent(name: "IAM Trigger", properties: [.init("campaign_name", campaign)])
        return .success(ServerEvent(event: event, flag: flag))
    }

    /// The reasons that are recorded with it.
    func reasons(isInForeground: Bool) -> [PushReason] {
        var reasons = [PushReason.serverEvent]
        if flag != .string("true"), flag != .bool(true) { reasons.append(.anyFlag) }
        if !isInForeground { reasons.append(.notInForeground) }
        return reasons
    }
}
