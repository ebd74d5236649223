internal import ProfileLog
internal import ProfileLogNativeAPI

/// The table of steps.
extension StepKind {
    private static let device = StepField.sent("device", .text, "The device; `phone` if it is not named.")
    private static let time = StepField.sent("time", .time, "When, by the device's clock; else by the scenario's.")
    private static let key = StepField.sent(
        "key", .text, "An idempotency key: the same step again changes nothing.")

    private static let saving: [StepField] = [
        .sent("user", .text, "The user; else the one on the device."), device,
        .sent("process", .text, "Who saves: `app`, or the name of an extension."),
        .sent("app_group", .text, "The storage; `group.app` if it is not named."),
        .sent("private", .flag, "Saves into the private storage of the process."),
        .sent("item", .text, "The item's own ID."),
        .sent("imported", .flag, "A real device saved it: the SDK's rules are applied at the launch."), time, key,
    ]

    private static let logging: [StepField] = [
        .sent("user", .text, "Whose; needed unless `device` is there."),
        .sent("device", .text, "Where; the event then follows this device's settings."),
        .sent("process", .text, "Who logs; `app` if it is not named."),
        .sent("source", .choice(["app", "extension", "rest", "import", "cli"]), "Where it comes from."), time, key,
    ]

    private static let event: [StepField] = [
        .sent("name", .text, "The event's name.", isRequired: true), .sent("properties", .object, "Its properties."),
    ]

    private static let attributes: [StepField] = [
        .sent("attributes", .object, "Names and values, or operations as in docs/api.md.", isRequired: true),
        .sent("_merge_objects", .flag, "Objects are merged, not replaced."),
    ]

    private static let userAttribute: [StepField] = [
        .sent("attribute", .choice(StandardAttribute.allCases.map(\.name)), "Which one.", isRequired: true),
        .sent("value", .any, "Its value; `null` unsets it.", isRequired: true),
    ]

    private static let kind = StepField.sent("kind", .choice(LaunchKind.allCases.map(\.name)), "How the app starts.")

    /// Conditions that no history records, and that `whatif` is told.
    private static let conditions: [StepField] = [
        "since", "until", "language", "numbers", "save_ms", "flush_ms", "crash_every", "crash_after", "unstored",
        "scenes", "update_every", "locked_every", "instance_missing_until", "sdk", "sdk_disabled", "blocklist", "stray",
    ].map { StepField.sent($0, .texts, "As in docs/device-simulation.md.") }

    /// All kinds, in the order of the docs.
    static let all = saves + logs + tags + app + pushes + messages + users + expectations

    private static let saves: [StepKind] = [
        StepKind(
            name: "save-event", meaning: "Saves a custom event on a device, where it waits for a launch.",
            action: .post("/v1/save/event"), fields: event, more: saving, short: "name",
            example: "save-event: {name: Completed Match Game, properties: {Score: 10}, process: PushContent}"),
        StepKind(
            name: "save-attributes", meaning: "Saves custom attributes on a device.",
            action: .post("/v1/save/attributes"), fields: attributes, more: saving,
            example: "save-attributes: {attributes: {level: 7, streak: 3}, process: PushContent}"),
        StepKind(
            name: "save-user-attribute", meaning: "Saves a standard user attribute on a device.",
            action: .post("/v1/save/user-attribute"), fields: userAttribute, more: saving,
            example: "save-user-attribute: {attribute: email, value: jane@example.com, process: PushContent}"),
    ]

    private static let logs: [StepKind] = [
        StepKind(
            name: "log-event", meaning: "Logs a custom event: it is effective at once, if the device can send it.",
            action: .post("/v1/log/event"), fields: event, more: logging,
            example: "log-event: {user: jane, name: played song, properties: {genre: pop}}"),
        StepKind(
            name: "log-attributes", meaning: "Logs custom attributes.", action: .post("/v1/log/attributes"),
            fields: attributes, more: logging, example: "log-attributes: {user: jane, attributes: {songs: {inc: 1}}}"),
        StepKind(
            name: "log-user-attribute", meaning: "Logs a standard user attribute.",
            action: .post("/v1/log/user-attribute"), fields: userAttribute, more: logging,
            example: "log-user-attribute: {user: jane, attribute: first_name, value: Jane}"),
        StepKind(
            name: "log-purchase", meaning: "Logs a purchase.", action: .post("/v1/log/purchase"),
            fields: [
                .sent("product", .text, "The product's ID.", isRequired: true),
                .sent("currency", .text, "Three capital letters, as in EUR.", isRequired: true),
                .sent("price", .number, "The price of one.", isRequired: true),
                .sent("quantity", .integer(1...100), "How many; 1 if it is not said."),
                .sent("properties", .object, "Its properties."),
            ], more: logging, example: "log-purchase: {user: jane, product: album, currency: EUR, price: 9.5}"),
    ]

    private static let app: [StepKind] = [
        StepKind(
            name: "launch", meaning: "Starts the app: what waits and the app can see is flushed.",
            action: .post("/v1/devices/{device}/launch"),
            fields: [
                kind, device,
                .sent("only", .choices(PendingKind.allCases.map(\.word)), "Flushes these lists alone."), time,
            ], short: "kind", example: "launch: background"),
        StepKind(
            name: "crash", meaning: "Starts the app and kills it within the flush; the next launch goes on.",
            action: .post("/v1/devices/{device}/launch"),
            fields: [
                .sent(
                    "after", .choice(LaunchStep.allCases.map(\.rawValue)),
                    "After `launched` nothing is handed to the SDK; after `handed` all is, and nothing is sent.",
                    as: "die_after", isRequired: true), kind, device, time,
            ], short: "after", example: "crash: handed"),
        StepKind(
            name: "leave", meaning: "The app leaves the foreground.", action: .post("/v1/devices/{device}/leave"),
            fields: [device, time], short: "device", example: "leave: phone"),
        StepKind(
            name: "settings", meaning: "Sets up a device: network, SDK, sessions, app groups, push.",
            action: .post("/v1/devices/{device}/settings"),
            fields: [
                device, .sent("online", .flag, "Whether there is a network."),
                .sent("sdk_enabled", .flag, "A disabled SDK takes nothing."),
                .sent("request_policy", .choice(["automatic", "manual"]), "`manual` sends when `send` asks."),
                .sent(
                    "flush_interval", .span(least: 0), "The least time between two sendings.", as: "flush_interval_s"),
                .sent(
                    "session_timeout", .span(least: 1), "How long the app may be away within one session.",
                    as: "session_timeout_s"),
                .sent(
                    "without_app_groups", .appGroupTargets,
                    "Targets that lack an app group: `{process: …, app_group: …}`."),
                .sent("with_app_groups", .appGroupTargets, "Targets that have it again."),
                .sent("messages", .inAppSettings, "In-app messages, as in docs/in-app-messages.md."),
                .sent("permission", .choice(["granted", "denied", "not_asked"]), "Whether pushes may be shown."),
                .sent(
                    "startup", .startup,
                    "When the app makes the SDK: a mapping if it waits, else `null` (docs/push.md)."),
                .sent(
                    "content_extension", .contentExtension,
                    "The app's content extension, or its Info.plist as seen from the scenario; "
                        + "`null`: none (docs/push.md)."),
                .sent(
                    "server_events", .choice(["swift", "objective-c", "off"]),
                    "The app's handler of silent pushes that are server events."), time,
            ], example: "settings: {online: false}"),
        StepKind(
            name: "send", meaning: "The app asks the SDK to send what it has queued.",
            action: .post("/v1/devices/{device}/send"),
            fields: [
                device, .sent("requested", .flag, "If false, the SDK's own timer asks: policy and interval decide."),
                time,
            ], short: "device", example: "send: phone"),
    ]

    private static let pushes: [StepKind] = [
        StepKind(
            name: "push", meaning: "Something happens to the pushes of a device.",
            action: .post("/v1/devices/{device}/push"),
            fields: [
                .sent(
                    "action",
                    .choice([
                        "deliver", "receive", "expand", "input", "act", "open", "dismiss", "initialize", "force_quit",
                    ]), "What happens.", isRequired: true),
                .sent("push", .integer(1...1 << 40), "Which push, by a position; the newest shown if it is not said."),
                .sent("limit", .integer(1...256), "`deliver`: how many at most."),
                .sent("payload", .object, "`receive`: what the device gets."),
                .sent(
                    "channel", .choice(["apple_push", "android_push"]), "`receive`: `apple_push` if it is not said."),
                .sent("message", .text, "`receive`: the message's ID."),
                .sent("collapse_id", .text, "`receive`: a later push with the same one replaces it."),
                .sent("expiry", .time, "`receive`: it is not delivered later."),
                .sent("way", .choice(["long_press", "swipe_down", "view"]), "`expand`: how; `long_press` by default."),
                .sent("text", .text, "`input`: what the user writes."),
                .sent("button", .text, "`act`: the identifier of the action."),
                .sent(
                    "response", .choice(["dismiss", "do_not_dismiss", "dismiss_and_forward", "never"]),
                    "`act`: what the extension answers."), device, time,
            ], short: "action", example: "push: {action: expand, way: swipe_down}")
    ]

    private static let tags: [StepKind] = [
        StepKind(
            name: "tag", meaning: "An event of the app goes through a container of the tag manager.",
            action: .post("/v1/tags"),
            fields: [
                .sent("event", .text, "The event's name.", isRequired: true),
                .sent(
                    "container", .container,
                    "The container, or its file as seen from the scenario's (docs/tag-manager.md).",
                    isRequired: true),
                .sent("properties", .object, "The event's parameters."),
                .sent("encodings", .object, "C types of number objects, by property."),
                .sent("variables", .object, "Values of variables, as of those that only the app knows."),
                .sent("provider", .text, "The provider's class path: tags of other classes call nothing."),
                .sent(
                    "language", .choice(["correct", "swift", "objective-c", "kotlin"]),
                    "Whose provider; `correct` by default."),
                .sent("quirks", .choices(TagQuirk.allCases.map(\.rawValue)), "Only these quirks."),
                .sent("dry_run", .flag, "Stores nothing."), device, time,
            ], example: "tag: {event: played song, properties: {genre: pop}, container: songs.yaml}")
    ]

    private static let messages: [StepKind] = [
        StepKind(
            name: "declare-messages", meaning: "Declares the in-app messages of the sessions that start from now on.",
            action: .post("/v1/messages"),
            fields: [
                .sent("messages", .inAppMessages, "All of them, as in docs/in-app-messages.md.", isRequired: true)
            ], short: "messages",
            example: "declare-messages: [{id: welcome, trigger_conditions: [{type: open}], message: Welcome}]"),
        StepKind(
            name: "message-action", meaning: "The app or the user does something with in-app messages.",
            action: .post("/v1/devices/{device}/messages"),
            fields: [
                .sent("action", .choice(InAppEndpoints.actions), "What happens.", isRequired: true),
                .sent("message", .text, "Of `present`: which message."),
                .sent("button", .text, "Of `click` and `log_click`: which button; the message itself without it."),
                device, time,
            ], short: "action", example: "message-action: close"),
    ]

    private static let users: [StepKind] = [
        StepKind(
            name: "change-user", meaning: "Puts another user on a device, as a login does.",
            action: .post("/v1/devices/{device}/change-user"),
            fields: [.sent("user", .text, "Who comes.", isRequired: true), device, time], short: "user",
            example: "change-user: jane"),
        StepKind(
            name: "log-out", meaning: "The user leaves: what is not sent is discarded, and the SDK is disabled.",
            action: .post("/v1/devices/{device}/log-out"), fields: [device, time], short: "device",
            example: "log-out: phone"),
        StepKind(
            name: "wipe", meaning: "The SDK forgets its user, and discards what it has not sent.",
            action: .post("/v1/devices/{device}/wipe"), fields: [device, time], short: "device",
            example: "wipe: phone"),
        StepKind(
            name: "remove-app",
            meaning: "The app is removed, with what waits, its user and its pushes; the next launch reinstalls it.",
            action: .post("/v1/devices/{device}/remove"), fields: [device, time], short: "device",
            example: "remove-app: phone"),
        StepKind(
            name: "discard", meaning: "Discards what waits on a device, as `resetStorageKeys` does.",
            action: .post("/v1/pending/discard"),
            fields: [
                .sent("reason", .text, "Why; it stays in the log.", isRequired: true), device,
                .sent("storage", .text, "In this storage only."),
                .sent("actor", .text, "Who; `api` if it is not said."),
            ], short: "reason", example: "discard: the game was reset"),
        StepKind(
            name: "wait", meaning: "Time passes: the scenario's clock moves on.", action: .wait,
            fields: [.own("for", .span(least: 0), "How long.", isRequired: true)], short: "for", example: "wait: 2h"),
        StepKind(
            name: "request", meaning: "Sends a request of the REST API, or any other one.", action: .request,
            fields: [
                .own("path", .target, "As in `/users/track`; it may have a query.", isRequired: true),
                .own("method", .choice(["GET", "POST"]), "POST if there is a body, else GET."),
                .own("query", .object, "Parameters, not escaped."), .own("body", .object, "The body."),
                .own("key", .text, "The header `Idempotency-Key`."),
                .own("status", .integer(200...599), "The status that is expected; any below 400 if it is not said."),
            ],
            example: "request: {path: /users/export/ids, body: {external_ids: [jane]}, status: 201}"),
    ]

    private static let expectations: [StepKind] = [
        StepKind(
            name: "expect-profile", meaning: "What must be in a user's profile.",
            action: .expect("/v1/profile") { $0 },
            fields: [
                .sent("user", .text, "Whose.", isRequired: true),
                .sent("as_of", .text, "At a past time, position or `version:N`."),
                .sent(
                    "order", .choice(["recorded", "occurred"]),
                    "Whether the history counts as it was recorded (the default) or as it occurred."),
                .sent("include_pending", .flag, "Adds `with_pending`."),
                .expected("attributes", "Standard attributes.", .object),
                .expected("custom_attributes", "Custom attributes.", .object),
                .expected("custom_events", "Events: `name`, `count`, `first`, `last`."),
                .expected("purchases", "Purchases: `product`, `count`, `revenue`."),
                .expected("ids", "Everything that leads to this user."),
                .expected("launches", "`count`, `first`, `last`.", .object),
                .expected("flushes", "`count`, `first`, `last`.", .object),
                .expected("pending", "How many items wait, by list.", .object),
                .expected("with_pending", "The same members, if all that waits took effect.", .object),
                .expected("version", "How many events the user has."), .expected("first_seen", "A time."),
                .expected("last_seen", "A time."),
            ], example: "expect-profile: {user: jane, custom_attributes: {level: 7}}"),
        StepKind(
            name: "expect-pending", meaning: "What must wait on devices.",
            action: .expect("/v1/pending", view: items),
            fields: [
                .sent("device", .text, "On this device only."), .sent("user", .text, "Of this user only."),
                .sent("storage", .text, "In this storage only."),
                .expected("items", "What waits for a launch, device by device and list by list."),
                .expected("queue", "What the SDK has taken and not sent."),
                .expected("total", "How many items wait for a launch."), .expected("queued", "How many are queued."),
            ], example: "expect-pending: {total: 0}"),
        StepKind(
            name: "expect-rejected", meaning: "What the SDK, or a request, must have refused.",
            action: .expect("/v1/rejected") { $0 },
            fields: [
                .sent("user", .text, "Of this user only."), .sent("limit", .integer(1...10_000), "How many at most."),
                .sent("repaired", .flag, "Lists repaired items too."),
                .expected("rejected", "Items: `name`, `reason`, `kind`, `device`."), .expected("total", "How many."),
            ], example: "expect-rejected: {total: 0}"),
        StepKind(
            name: "expect-history", meaning: "Which events a user must have, in order.",
            action: .expect("/v1/history") { $0 },
            fields: [
                .sent("user", .text, "Whose.", isRequired: true),
                .sent("kind", .texts, "Events of these kinds only (docs/api.md lists them)."),
                .sent("name", .text, "Events of this name only."),
                .sent("from", .integer(1...1 << 40), "First version."),
                .sent("to", .integer(1...1 << 40), "Last version."), .sent("since", .time, "Recorded since."),
                .sent("before", .time, "Recorded before."),
                .sent(
                    "order", .choice(["recorded", "occurred"]),
                    "Whether `since` and `before` are times of recording (the default) or of occurrence."),
                .sent("reverse", .flag, "The newest first."),
                .sent("merged", .flag, "With the events of users who were merged into this one."),
                .sent("limit", .integer(1...10_000), "How many at most."), .expected("events", "The events."),
                .expected("version", "How many events the user has."),
            ], example: "expect-history: {user: jane, kind: customEventSaved, events: [{name: Completed Match Game}]}"),
        StepKind(
            name: "expect-device", meaning: "How a device must be set up, and what it must hold.",
            action: .expect("/v1/devices/{device}") { $0 },
            fields: [
                device, .expected("user", "Who is on it: `id`."), .expected("session", "`null` if none is open."),
                .expected("settings", "As `settings` sets them.", .object),
                .expected("waiting", "How many items wait for a launch."), .expected("queued", "How many are queued."),
                .expected("why_queued", "`offline`, `manual`, `disabled`, `no_instance` or `interval`."),
                .expected("last_launch", "`null` if it was never launched."),
                .expected("storages", "What waits, storage by storage."),
            ], example: "expect-device: {queued: 1, why_queued: offline}"),
        StepKind(
            name: "expect-messages", meaning: "What a device must have of in-app messages.",
            action: .expect("/v1/devices/{device}/messages") { $0 },
            fields: [
                device, .expected("screen", "The message on the screen; `null` if there is none."),
                .expected("stack", "The messages that wait on the stack, the next one first."),
                .expected("delayed", "Those whose delay or request is not over: `message`, `ready_at`, `deadline`."),
                .expected("eligible", "The messages of the session, by ID."),
                .expected("last_trigger", "When a message was last triggered."),
            ], example: "expect-messages: {screen: welcome}"),
        StepKind(
            name: "expect-pushes",
            meaning: "Which pushes must be on their way to a device, on its screen, or captured.",
            action: .expect("/v1/devices/{device}/pushes") { $0 },
            fields: [
                device, .expected("underway", "On their way, in the order in which they were sent."),
                .expected("shown", "On the screen: `message`, `screen`."),
                .expected("captured", "They wait for the SDK."),
            ], example: "expect-pushes: {shown: [{screen: notification}]}"),
        StepKind(
            name: "expect-sends", meaning: "Which messages must have been sent, or not.",
            action: .expect("/v1/sends") { $0 },
            fields: [
                .sent("user", .text, "To this user only."),
                .sent("message", .text, "Of this campaign or canvas only."),
                .sent("after", .integer(0...1 << 40), "After this position only."),
                .sent("limit", .integer(1...1_000), "How many at most."),
                .expected("sends", "The events: `kind`, `message`, `channel`, `reason`, `content`."),
                .expected("more", "Whether there are more."),
            ], example: "expect-sends: {user: jane, sends: [{kind: messageSent, channel: apple_push}]}"),
        StepKind(
            name: "expect-whatif",
            meaning: "What the published snippets would have done with the same saves and launches.",
            action: .expect("/v1/whatif") { $0 },
            fields: [
                .sent("fault", .texts, "Only these faults (docs/device-simulation.md), `newest` or `all`."),
                .sent("policy", .choice(["faithful", "standard"]), "`standard` has no fault."),
                .sent("quirk", .texts, "Only these quirks of the tag manager (docs/tag-manager.md)."),
                .sent("user", .text, "Of this user only."), .sent("device", .text, "On this device only."),
                .expected("items", "How many items were saved."),
                .expected("delivered_right", "How many arrived as they were saved."),
                .expected("affected", "How many did not."), .expected("waiting", "How many wait."),
                .expected("stranded", "How many lie where the app never looks."),
                .expected("rejected", "How many the SDK refused."), .expected("discarded", "How many were given up."),
                .expected("effects", "`lost`, `doubled`, `wrong_user`, `misdated`, `mistyped`, …", .object),
                .expected("tag_manager", "What the quirks would have changed: `calls`, `quirks`.", .object),
                .expected("faults", "What each fault did."), .expected("affected_items", "The first ones."),
            ], more: conditions, example: "expect-whatif: {fault: 7, affected: 0}"),
    ]

    /// An answer of `/v1/pending` with all items in two lists, `items` and `queue`.
    @Sendable private static func items(_ answer: JSONObject) -> JSONObject {
        let devices = answer.objects("devices")
        let waiting = devices.flatMap { $0.objects("storages") }.flatMap { storage in
            PendingKind.allCases.flatMap { storage.object("kinds")[Name($0.key)].elements }
        }
        return answer.with([
            .init("items", .array(waiting)), .init("queue", .array(devices.flatMap { $0["queue"].elements })),
        ])
    }
}
