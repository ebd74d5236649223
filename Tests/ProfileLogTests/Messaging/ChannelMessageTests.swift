import ProfileLogMessaging
import Testing

/// Message objects and what becomes of them (spec/messaging-api 2).
@Suite("Channel messages")
struct ChannelMessageTests {
    private static var ana: RenderContext {
        MadeUpRecipient(attributes: [.firstName: .string("Ana")]).context(
            trigger: .object([.init("long", .string(String(repeating: "x", count: 4_000)))]))
    }

    private static func message(
        _ channel: MessageStep.Channel, _ text: String, from origin: ChannelMessage.Origin = .request
    ) throws -> ChannelMessage {
        try ChannelMessage(channel, json(text), at: "messages.\(channel.name)", from: origin)
    }

    private static func content(_ channel: MessageStep.Channel, _ text: String) throws -> AttributeValue {
        .object(try message(channel, text).content(for: ana))
    }

    @Test("An apple_push becomes the payload that a device gets")
    func apple() throws {
        let content = try Self.content(
            .applePush,
            """
            {"alert": {"title": "Hi {{${first_name}}}", "body": "b", "loc_key": "k", "loc_args": ["{{${first_name}}}"]},
             "badge": 2, "sound": "default", "extra": {"game": "match", "level": 3, "who": "{{${first_name}}}"},
             "content-available": true, "mutable_content": true, "category": "ab_cat_yes_no",
             "buttons": [{"action_id": "ab_pb_yes", "action": "URI", "uri": "app://yes", "use_webview": false},
                         {"action_id": "ab_pb_no", "action": "CLOSE"}],
             "asset_url": "https://x.test/a.png", "asset_file_type": "png", "custom_uri": "app://{{${first_name}}}",
             "collapse_id": "news", "expiry": "2026-04-01T00:00:00Z", "apns_priority": 5,
             "interruption_level": "time-sensitive", "relevance_score": 0.5, "notification_group_thread_id": "t",
             "message_variation_id": "v1", "send_to_most_recent_device_only": true, "newer": 1}
            """)
        #expect(
            try content
                == json(
                    """
                    {"collapse_id": "news", "expiry": "2026-04-01T00:00:00Z", "payload": {
                     "ab": {"att": {"type": "png", "url": "https://x.test/a.png"}, "buttons": [
                       {"action": "URI", "action_id": "ab_pb_yes", "uri": "app://yes", "use_webview": false},
                       {"action": "CLOSE", "action_id": "ab_pb_no"}]},
                     "ab_uri": "app://Ana", "ab_use_webview": true,
                     "aps": {"alert": {"body": "b", "loc-args": ["Ana"], "loc-key": "k", "title": "Hi Ana"}, "badge": 2,
                       "category": "ab_cat_yes_no", "content-available": 1, "interruption-level": "time-sensitive",
                       "mutable-content": 1, "relevance-score": 0.5, "sound": "default", "thread-id": "t"},
                     "game": "match", "level": 3, "who": "Ana"}, "priority": 5}
                    """))
    }

    @Test("A message knows its variation and whether only the latest device gets it")
    func traits() throws {
        let message = try Self.message(
            .applePush, #"{"alert":"a","message_variation_id":"v1","send_to_most_recent_device_only":true}"#)
        #expect(message.variation == "v1")
        #expect(message.goesToLatestDevice)
        #expect(try !Self.message(.androidPush, #"{"alert":"a"}"#).goesToLatestDevice)
    }

    @Test("A silent push needs no alert")
    func silent() throws {
        let content = try Self.content(.applePush, #"{"content-available":true,"extra":{"IS_SERVER_EVENT":"true"}}"#)
        #expect(
            try content == json(#"{"payload":{"IS_SERVER_EVENT":"true","ab":{},"aps":{"content-available":1}}}"#))
    }

    @Test("An android_push becomes a payload")
    func android() throws {
        let content = try Self.content(
            .androidPush,
            """
            {"alert": "a", "title": "{{${first_name}}}", "extra": {"k": "v"}, "custom_uri": "app://x",
             "collapse_key": "c", "priority": -1, "time_to_live": 60,
             "notification_channel_id": "ch", "accent_color": 255}
            """)
        #expect(
            try content
                == json(
                    """
                    {"collapse_id": "c", "payload": {"ab": {}, "accent_color": 255, "alert": "a", "channel": "ch",
                     "k": "v", "title": "Ana", "uri": "app://x"}, "priority": -1, "time_to_live": 60}
                    """))
    }

    @Test(
        "Other channels keep their fields, with texts rendered and identifiers as they are",
        arguments: [
            (
                MessageStep.Channel.email,
                #"{"app_id":"a","subject":"Hi {{${first_name}}}","from":"A <a@b.c>","body":"<p>{{${user_id}}}"}"#,
                #"{"app_id":"a","body":"<p>ana","from":"A <a@b.c>","subject":"Hi Ana"}"#
            ),
            (
                .email, #"{"from":"a@b.c","email_template_id":"{{x}}"}"#,
                #"{"email_template_id":"{{x}}","from":"a@b.c"}"#
            ),
            (
                .sms, #"{"subscription_group_id":"g","body":"{{${first_name}}}"}"#,
                #"{"body":"Ana","subscription_group_id":"g"}"#
            ),
            (
                .webhook,
                #"{"url":"https://x.test/{{${first_name}}}","request_method":"POST","body":{"n":["{{${user_id}}}"]}}"#,
                #"{"body":{"n":["ana"]},"request_method":"POST","url":"https://x.test/Ana"}"#
            ),
            (
                .contentCard, #"{"type":"CLASSIC","title":"{{${first_name}}}","pinned":true}"#,
                #"{"pinned":true,"title":"Ana","type":"CLASSIC"}"#
            ),
            (.contentCard, #"{"type":"BANNER","image_url":"u"}"#, #"{"image_url":"u","type":"BANNER"}"#),
            (.whatsApp, #"{"anything":"{{"}"#, "{}"), (.kindlePush, "{}", "{}"), (.webPush, "{}", "{}"),
        ])
    func others(channel: MessageStep.Channel, message: String, expected: String) throws {
        #expect(try Self.content(channel, message) == json(expected))
        #expect(channel.isSimulated == (expected != "{}"))
    }

    @Test(
        "A message that cannot be sent is refused, with the platform's words or the field",
        arguments: [
            (MessageStep.Channel.applePush, "[]", "messages.apple_push: 'apple_push' is not valid", "object"),
            (.applePush, "{}", "messages.apple_push.alert: 'alert' is required", "content-available"),
            (.applePush, #"{"alert":3}"#, "messages.apple_push.alert: 'alert' is not valid", "text or an object"),
            (.applePush, #"{"alert":{"bdy":"x"}}"#, "alert.bdy: 'bdy' is not known", "Did you mean 'body'?"),
            (.applePush, #"{"alert":{"body":1}}"#, "alert.body: 'body' is not valid", "text"),
            (.applePush, #"{"alert":{"loc_args":"x"}}"#, "alert.loc_args: 'loc_args' is not valid", "list of texts"),
            (.applePush, #"{"alert":"a","extra":[1]}"#, "extra: Invalid Extra Push Payload", "object"),
            (.applePush, #"{"alert":"a","extra":{"ab":1}}"#, "Invalid Extra Push Payload", "'ab'"),
            (.applePush, #"{"alert":"a","extra":{"aps":1}}"#, "Invalid Extra Push Payload", "'aps'"),
            (.applePush, #"{"alert":"a","badge":"1"}"#, "badge: 'badge' is not valid", "whole number."),
            (.applePush, #"{"alert":"a","apns_priority":11}"#, "'apns_priority' is not valid", "from 1 to 10"),
            (.applePush, #"{"alert":"a","relevance_score":1.5}"#, "'relevance_score' is not valid", "from 0.0 to 1.0"),
            (.applePush, #"{"alert":"a","interruption_level":"pasive"}"#, "not valid", "Did you mean 'passive'?"),
            (.applePush, #"{"alert":"a","expiry":"soon"}"#, "'expiry' is not valid", "ISO 8601"),
            (.applePush, #"{"alert":"a","mutable_content":1}"#, "'mutable_content' is not valid", "true or false"),
            (.applePush, #"{"alert":"a","sound":1}"#, "'sound' is not valid", "text"),
            (.applePush, #"{"alert":"a","asset_url":"u"}"#, "'asset_file_type' is required", "asset_url"),
            (.applePush, #"{"alert":"a","asset_url":"u","asset_file_type":"bmp"}"#, "not valid", "aif, gif"),
            (.applePush, #"{"alert":"a","buttons":[]}"#, "'category' is required", "buttons"),
            (.applePush, #"{"alert":"a","category":"ab_cat_yesno"}"#, "'ab_cat_yesno' is not known", "'ab_cat_yes_no'"),
            (.applePush, #"{"alert":"a","category":"own","buttons":3}"#, "'buttons' is not valid", "list"),
            (
                .applePush, #"{"alert":"a","category":"own","buttons":[{}]}"#, "buttons[0].action_id: 'action_id' is",
                "Add"
            ),
            (
                .applePush,
                #"{"alert":"a","category":"ab_cat_more","buttons":[{"action_id":"ab_pb_mor","action":"CLOSE"}]}"#,
                "'ab_pb_mor' is not known", "'ab_pb_more'"
            ),
            (
                .applePush, #"{"alert":"a","category":"c","buttons":[{"action_id":"x"}]}"#, "'action' is required",
                "OPEN_APP"
            ),
            (
                .applePush, #"{"alert":"a","category":"c","buttons":[{"action_id":"x","action":"OPEN"}]}"#, "not valid",
                "OPEN_APP"
            ),
            (
                .applePush, #"{"alert":"a","category":"c","buttons":[{"action_id":"x","action":"URI"}]}"#,
                "buttons[0].uri: 'uri' is required", "URI"
            ),
            (
                .applePush, #"{"alert":"{{${first}}}"}"#, "messages.apple_push.alert: line 1, column 3: `first` is no",
                "first_name"
            ),
            (
                .applePush, #"{"alert":"a","extra":{"k":["{% x %}"]}}"#, "extra.k[0]: line 1, column 4: `x` is no tag",
                "if"
            ),
            (.androidPush, #"{"title":"t"}"#, "'alert' is required", "Add"),
            (.androidPush, #"{"alert":"a","extra":"x"}"#, "Invalid Extra Push Payload", "object"),
            (.androidPush, #"{"alert":"a","priority":3}"#, "'priority' is not valid", "from -2 to 2"),
            (.email, #"{"subject":"s","body":"b"}"#, "'from' is required", "Add"),
            (.email, #"{"from":"a@b.c","body":"b"}"#, "'subject' is required", "Add"),
            (.email, #"{"from":"a@b.c","subject":"s"}"#, "'body' is required", "Add"),
            (.sms, #"{"body":"b"}"#, "'subscription_group_id' is required", "Add"),
            (.sms, #"{"subscription_group_id":"b"}"#, "'body' is required", "Add"),
            (.webhook, "{}", "'url' is required", "Add"),
            (.contentCard, "{}", "'title' is required", "Add"),
            (.contentCard, #"{"type":"BANNER"}"#, "'image_url' is required", "Add"),
        ])
    func refused(channel: MessageStep.Channel, message: String, fault: String, remedy: String) throws {
        let error = try #require(throws: SendError.self) { try Self.message(channel, message) }
        #expect(error.description.contains(fault))
        #expect(error.remedy.contains(remedy))
    }

    @Test("An unknown field is ignored in a request and a mistake in the workspace file")
    func unknown() throws {
        let text = #"{"alert":"a","bagde":1}"#
        #expect(throws: Never.self) { try Self.message(.applePush, text) }
        let error = #expect(throws: SendError.self) { try Self.message(.applePush, text, from: .workspace) }
        #expect(error?.description == "messages.apple_push.bagde: 'bagde' is not known")
        #expect(error?.remedy == "Did you mean 'badge'?")
    }

    @Test("A payload has a limit in a request, in the workspace file and on its way")
    func length() throws {
        // The payload {"ab":{},"aps":{"alert":"…"}} has 28 bytes without its text.
        func push(_ bytes: Int) -> String { #"{"alert":"\#(String(repeating: "a", count: bytes - 28))"}"# }
        #expect(throws: Never.self) { try Self.message(.applePush, push(1_912)) }
        let error = #expect(throws: SendError.self) { try Self.message(.applePush, push(1_913)) }
        #expect(error?.message == "Apple Push Length Exceeded")
        #expect(error?.remedy == "Its payload has 1913 bytes; 1912 are allowed.")
        #expect(throws: Never.self) { try Self.message(.applePush, push(4_096), from: .workspace) }
        #expect(throws: SendError.self) { try Self.message(.applePush, push(4_097), from: .workspace) }
        let android = #"{"alert":"\#(String(repeating: "a", count: 4_000))"}"#
        let other = #expect(throws: SendError.self) { try Self.message(.androidPush, android) }
        #expect(other?.message == "Android Push Length Exceeded")

        let growing =
            #"{"alert":"{{api_trigger_properties.${long}}}","sound":"\#(String(repeating: "s", count: 100))"}"#
        #expect(throws: RenderError.tooLarge(bytes: 4_139, limit: 4_096)) { try Self.content(.applePush, growing) }
    }

    @Test("What a user lacks stops the message, and so does abort_message")
    func stops() throws {
        let stop = #expect(throws: RenderError.self) {
            try Self.content(.sms, #"{"subscription_group_id":"g","body":"{{${last_name}}}"}"#)
        }
        #expect(stop?.reason == "line 1, column 3: `${last_name}` has no value for this user")
        let aborted = #expect(throws: RenderError.self) {
            try Self.content(.applePush, #"{"alert":"{% abort_message('no') %}"}"#)
        }
        #expect(aborted?.reason == "aborted: no")
    }

    @Test(
        "The categories of the platform's content extension, an app's own and newer ones are taken; slips are refused",
        arguments: [
            ("ab_cat_push_story_v2", nil), ("ab_cat_push_story", nil), ("ab_cat_push_story_v3", nil),
            ("ab_cat_more", nil),
            ("ab_cat_something_new", nil), ("SHOP", nil), ("ab_cat_push_storry", "ab_cat_push_story"),
            ("ab_cat_mor", "ab_cat_more"), ("ab_cat_accept_declin", "ab_cat_accept_decline"),
        ] as [(String, String?)])
    func categories(category: String, meant: String?) throws {
        let message: AttributeValue = .object([.init("alert", "a"), .init("category", .string(category))])
        do throws(SendError) {
            _ = try ChannelMessage(.applePush, message, at: "p", from: .request)
            #expect(meant == nil)
        } catch {
            #expect(meant.map { error.remedy == "Did you mean '\($0)'?" } ?? false, "\(error)")
        }
    }
}
