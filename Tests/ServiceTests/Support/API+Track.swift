import ProfileLog
import ProfileLogMessaging
import TestSupport

@testable import ProfileLogBrazeAPI
@testable import ProfileLogRequests

extension API {
    /// Sends a body, and gives the status and the bytes of the answer as one text.
    func say(_ path: String, _ body: String) async -> String {
        let answer = await answer(APIRequest(.post, path, body: Array(body.utf8)))
        return "\(answer.status) \(String(decoding: answer.body, as: UTF8.self))"
    }

    /// Tracks objects of `attributes`, one after the other.
    func track(_ objects: String...) async {
        for object in objects { _ = await post("/users/track", #"{"attributes":[\#(object)]}"#) }
    }

    /// Decides a track request, and adds what is to be stored to `builder`.
    func decide(_ body: String, _ view: DecisionView, _ builder: inout AppendBuilder) throws -> TrackAnswer {
        let request = Array(body.utf8)
        let reader = TrackReader(workspace: workspace, now: log.options.now(), sent: SentOrder(request))
        var decision = TrackDecision(braze, view)
        try decision.decide(TrackBody(request, workspace.limits), reader, &builder)
        return decision.answer
    }

    /// A view with room for so much.
    func view(_ effort: DecisionView.Effort = .slow) -> DecisionView { DecisionView(log, effort) }

    /// The user's states in subscription groups.
    func subscriptions(of user: UserInfo) throws -> SubscriptionStates {
        SubscriptionStates(try log.profile(of: user.number).value(.subscriptionGroups))
    }

    /// Returns the export of the users that `identifiers` names: members of its body.
    func export(_ identifiers: String) async -> AttributeValue {
        await post("/users/export/ids", "{\(identifiers)}").json.at("users")
    }
}

extension AppendBuilder {
    /// Leaves no room for users who share an address with those that the request names.
    mutating func fill() throws {
        let text = String(repeating: "x", count: Limits.bytesPerEvent - 100)
        while SubscriptionStates.haveRoom(in: self) {
            try add(
                .customAttributesChanged([.init("x", .set(.string(text)))]), EventContext(source: .rest),
                to: .externalID("other"))
        }
    }
}

/// JSON that many tests send.
enum Wire {
    static func alias(_ label: String, _ name: String) -> String {
        #"{"alias_name":"\#(name)","alias_label":"\#(label)"}"#
    }

    /// An attributes object that makes a user who is known by an alias only.
    static func aliasOnly(_ label: String, _ name: String, _ more: String = #""made":true"#) -> String {
        #"{"user_alias":\#(alias(label, name)),"_update_existing_only":false,\#(more)}"#
    }

    static func user(_ id: String, _ more: String = #""made":true"#) -> String {
        #"{"external_id":"\#(id)",\#(more)}"#
    }

    static func list(_ key: String, _ object: String, _ count: Int) -> String {
        #"{"\#(key)":[\#(Array(repeating: object, count: count).joined(separator: ","))]}"#
    }
}
