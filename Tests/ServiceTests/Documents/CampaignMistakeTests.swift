import ProfileLog
import Testing

@testable import ProfileLogBrazeAPI
@testable import ProfileLogRequests

@Suite("Campaigns and canvases of the workspace file")
struct CampaignMistakeTests {
    private static func campaign(_ message: String) -> String {
        "campaigns:\n  - id: a\n    name: A\n    messages:\n      - \(message)"
    }

    private static let webhook = "messages: [{webhook: {url: u}}]"

    private static let wrong: [(yaml: String, line: Int, place: String, says: String)] = [
        ("campaigns: [{name: A, \(webhook)}]", 1, "campaigns[0]", "`id`"),
        ("campaigns: [{id: a, \(webhook)}]", 1, "campaigns[0]", "`name`"),
        ("campaigns: [{id: a, name: A}]", 1, "campaigns[0]", "`messages`"),
        ("campaigns: [{id: a, name: A, messages: []}]", 1, "campaigns[0].messages", "1 to 100 messages"),
        ("campaigns: [{id: a, name: A, mesages: []}]", 1, "campaigns[0].mesages", "`messages`"),
        (
            "campaigns:\n  - {id: a, name: A, \(webhook)}\n  - {id: a, name: B, \(webhook)}", 3, "campaigns[1].id",
            "another one too"
        ),
        (
            "segments: [{id: gold, name: G, users: all}]\ncampaigns:\n  - {id: a, name: A, segment: gild, \(webhook)}",
            3,
            "campaigns[0].segment", "Did you mean `gold`?"
        ),
        (
            "canvases: [{id: a, name: A, segment: gold, steps: [{name: s, \(webhook)}]}]", 1, "canvases[0].segment",
            "is no segment"
        ),
        ("canvases: [{id: a, name: A, steps: []}]", 1, "canvases[0].steps", "1 to 100 steps"),
        ("canvases: [{id: a, name: A, steps: [{\(webhook)}]}]", 1, "canvases[0].steps[0]", "`name`"),
        (campaign("apple_pus: {alert: a}"), 5, "campaigns[0].messages[0].apple_pus", "`apple_push`"),
        (campaign("apple_push: {alrt: a}"), 5, "campaigns[0].messages[0].apple_push", "alert"),
        (campaign("apple_push:\n          badge: 1"), 6, "campaigns[0].messages[0].apple_push", "alert"),
        (
            campaign("apple_push:\n          alert: a\n          category: ab_cat_mor"), 7,
            "campaigns[0].messages[0].apple_push.category", "ab_cat_more"
        ),
        (
            campaign("webhook:\n          url: \"{{${first_nam}}}\""), 6, "campaigns[0].messages[0].webhook.url",
            "first_name"
        ),
        (
            campaign("webhook:\n          url: \"{% for i in (1..1000000000) %}{% endfor %}\""), 6,
            "campaigns[0].messages[0].webhook.url", "more than 100000 steps"
        ),
        (
            campaign("webhook:\n          url: \(String(repeating: "a", count: 1 << 20))"), 6,
            "campaigns[0].messages[0].webhook.url", "larger than 65536 bytes"
        ),
        (
            campaign("apple_push:\n          alert: \(String(repeating: "a", count: 4_097))"), 6,
            "campaigns[0].messages[0].apple_push", "Apple Push Length Exceeded"
        ),
        (
            campaign("webhook: {url: u, message_variation_id: v}\n      - sms:\n          subscription_group_id: g\n")
                + "          body: b\n          message_variation_id: v", 9,
            "campaigns[0].messages[1].sms.message_variation_id", "the variation of another message"
        ),
    ]

    @Test("A mistake is named by line and key, with what to do", arguments: wrong)
    func mistake(yaml: String, line: Int, place: String, says: String) throws {
        let error = try #require(throws: YAMLFileError.self) { try Workspace(yaml: yaml) }
        #expect(error.line == line, "\(error)")
        #expect(error.place.hasPrefix(place), "\(error)")
        #expect("\(error) \(error.remedy)".contains(says), "\(error) \(error.remedy)")
        #expect(!error.remedy.isEmpty)
    }
}
