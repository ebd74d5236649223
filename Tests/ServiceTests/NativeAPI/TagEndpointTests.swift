import ProfileLog
import ProfileLogRequests
import Testing

@Suite("The tag manager over HTTP")
struct TagEndpointTests {
    private static let tags = """
        triggers: [{name: song, event: played song}, {name: login, event: login}]
        variables: [{name: genre, event-parameter: genre}, {name: user, event-parameter: user}]
        tags:
          - name: log
            class: Provider
            triggers: song
            parameters: {actionType: logEvent, eventName: played song, genre: "{{genre}}"}
          - name: set
            class: Provider
            triggers: [song, login]
            parameters: {actionType: customAttribute, customAttributeKey: level, customAttributeValue: 7}
          - name: login
            class: Provider
            triggers: login
            parameters: {actionType: changeUser, externalUserId: "{{user}}"}
          - name: hello
            class: Provider
            triggers: login
            parameters: {actionType: logEvent, eventName: hello}

        """

    private func post(
        _ api: API, _ event: String, _ more: String = "", container: String = tags
    ) async -> (status: Int, json: AttributeValue) {
        await api.post(
            "/v1/tags", #"{"container":\#(AttributeValue.string(container).json),"event":"\#(event)"\#(more)}"#)
    }

    @Test("What the provider calls is stored on the device, in one commit")
    func stored() async throws {
        try await withAPI { api in
            _ = await api.post("/v1/change-user", #"{"user":"jane"}"#)
            let before = try api.log.lastPosition().rawValue
            let (status, json) = await post(
                api, "played song", #","properties":{"genre":"pop"},"time":"2026-01-05T09:00:00Z""#)
            #expect(status == 200 && json.at("events") == 2 && json.at("user.id") == "jane", "\(json)")
            #expect(json.at("tags.0.outcome") == "called" && json.at("tags.0.call.action") == "logEvent")
            #expect(json.at("tags.1.call.value") == 7)
            let events = try (1...2).compactMap { try api.log.event(at: Position(rawValue: before + $0)) }
            #expect(events.map(\.event.kind) == [.customEventLogged, .customAttributesChanged])
            #expect(events.allSatisfy { $0.context.source == .app && $0.context.device == "phone" })
            #expect(Set(events.map(\.recordedAt)).count == 1)
            let profile = await api.get("/v1/profile", [("user", "jane")]).json
            #expect(profile.at("custom_attributes.level") == 7)
            #expect(profile.at("custom_events.0.last").text.hasPrefix("2026-01-05T09:00:00"))
        }
    }

    @Test("A changeUser between them parts what comes before from what comes after")
    func changeUser() async throws {
        try await withAPI { api in
            _ = await api.post("/v1/change-user", #"{"user":"jane"}"#)
            let json = await post(api, "login", #","properties":{"user":"bob"}"#).json
            #expect(json.at("tags").count == 3 && json.at("user.id") == "bob")
            #expect(await api.get("/v1/profile", [("user", "jane")]).json.at("custom_attributes.level") == 7)
            let bob = await api.get("/v1/profile", [("user", "bob")]).json
            #expect(bob.at("custom_events.0.name") == "hello" && bob.at("custom_attributes.level") == .null)
        }
    }

    @Test("The answer has the calls of both published versions, and each can be stored in place of the correct one")
    func published() async throws {
        try await withAPI { api in
            let json = await post(api, "played song").json
            #expect(json.at("tags.1.published.0.language") == "swift")
            #expect(json.at("tags.1.published.0.call.value") == .double(7))
            #expect(json.at("tags.1.published.0.quirks.0.quirk") == "boxed-numbers")
            #expect(json.at("tags.1.published.1.language") == "objective-c")
            #expect(json.at("tags.1.published.1.quirks").count == 0 && json.at("tags.1.quirks").count == 0)
            for more in [#","language":"swift""#, #","quirks":["boxed-numbers"]"#] {
                _ = await post(api, "played song", more)
                let level = await api.get("/v1/profile", [("user", "device:phone")]).json.at("custom_attributes.level")
                #expect(level == .double(7))
                _ = await post(api, "played song", #","language":"objc""#)
            }
            let encoded = await post(
                api, "played song", #","properties":{"genre":1},"encodings":{"genre":"unsigned int"},"dry_run":true"#)
            #expect(encoded.status == 200 && encoded.json.at("events") == 0)
        }
    }

    @Test("Firebase's rules are warned of, also if no tag fires; letters of C types are read")
    func warnings() async throws {
        try await withAPI { api in
            let json = await post(
                api, "played song", #","properties":{"genre":1},"encodings":{"genre":"q"},"dry_run":true"#
            ).json
            #expect(json.at("warnings").count == 1, "\(json)")
            #expect(json.at("warnings.0").text.hasPrefix("Firebase ignores the event `played song`"))
            #expect(await post(api, "ga_x").json.at("warnings.0").text.contains("must not begin with `ga_`"))
            #expect(await post(api, "login", #","properties":{"user":"bob"}"#).json.at("warnings").count == 0)
        }
    }

    @Test("A call that the SDK refuses is told for its tag; the others are stored")
    func refused() async throws {
        try await withAPI { api in
            let json = await post(
                api, "played song", #","properties":{"genre":"\#(String(repeating: "x", count: 256))"}"#
            )
            .json
            #expect(json.at("tags.0.outcome") == "refused" && json.at("tags.0.reason").text.contains("genre"))
            #expect(json.at("tags.1.outcome") == "called" && json.at("events") == 2)  // with that of the new user
            let user = await post(api, "login", #","properties":{"user":"\#(String(repeating: "x", count: 998))"}"#)
                .json
            #expect(user.at("tags.1.outcome") == "refused" && user.at("tags.2.outcome") == "called")
            _ = await api.post("/v1/devices/phone/settings", #"{"sdk_enabled":false}"#)
            let last = try api.log.lastPosition()
            let disabled = await post(api, "login", #","properties":{"user":"bob"}"#).json
            for index in 0...2 { #expect(disabled.at("tags.\(index).outcome") == "refused") }
            #expect(disabled.at("tags.0.reason").text.contains("the SDK is disabled"))
            let lastAfter = try api.log.lastPosition()
            #expect(lastAfter == last)
        }
    }

    @Test("A call before the SDK exists is lost, and told so")
    func lost() async throws {
        try await withAPI { api in
            _ = await api.post("/v1/change-user", #"{"user":"jane"}"#)
            _ = await api.post("/v1/devices/phone/settings", #"{"startup":{}}"#)
            _ = await api.post("/v1/devices/phone/launch", "")
            for more in [#","dry_run":true"#, ""] {
                let tags = await post(api, "played song", more).json.at("tags")
                for index in 0...1 { #expect(tags.at("\(index).outcome") == "lost", "\(tags)") }
                #expect(tags.at("0.reason").text.contains("before the SDK existed"))
                #expect(tags.at("0.remedy") != .null)
            }
            let profile = await api.get("/v1/profile", [("user", "jane")]).json
            #expect(profile.at("custom_attributes.level") == .null)
        }
    }

    @Test("If a later commit fails, the answer says which calls are stored")
    func storedInPart() async throws {
        var options = LogOptions()
        options.pendingItemsPerDevice = 1
        try await withAPI(options) { api in
            _ = await api.post("/v1/change-user", #"{"user":"jane"}"#)
            _ = await api.post("/v1/devices/phone/settings", #"{"online":false}"#)
            let (status, json) = await post(api, "login", #","properties":{"user":"bob"}"#)
            #expect(status == 200, "\(json)")
            let outcomes = (0...2).map { json.at("tags.\($0).outcome").text }
            #expect(outcomes == ["called", "called", "refused"], "\(json)")
            #expect(json.at("tags.2.reason").text.contains("queue") && json.at("tags.2.remedy") != .null)
            #expect(json.at("user.id") == "bob" && json.at("queued") == 1)
            let first = await post(api, "played song")
            #expect(first.status == 400, "nothing was stored before it: \(first.json)")
        }
    }

    @Test("An event without a trigger stores nothing and names the nearest one; nor does a dry run")
    func nothing() async throws {
        try await withAPI { api in
            let json = await post(api, "played sogn").json
            #expect(json.at("note").text.hasSuffix("Did you mean `played song`?") && json.at("position") == .null)
            #expect(await post(api, "played song", #","dry_run":true"#).json.at("tags.0.outcome") == "called")
            let last = try api.log.lastPosition()
            #expect(last == .start)
        }
    }

    /// Wrong containers: where the error is, what it says, and the next step.
    static let wrong: [(yaml: String, spot: String, words: String)] = [
        ("", "line 1, column 1", "is empty"), ("tags: []", "line 1, column 7", "has no tag"),
        ("tgas: []", "line 1, column 1", "Did you mean `tags`?"),
        ("triggers: []", "line 1, column 1", "has no `tags`"), ("tags: [a", "line 2", "is no YAML"),
        ("tags: [{name: a, class: P}]", "line 1, column 8", "has no `triggers`"),
        ("tags: [{name: a, class: P, triggers: []}]", "line 1, column 38", "names no trigger"),
        ("tags: [{name: a, class: P, triggers: song}]", "line 1, column 38", "The container has no trigger."),
        ("tags: [{name: a, triggers: song}]\ntriggers: [{name: song, event: e}]", "line 1", "has no `class`"),
        (
            "triggers:\n  - {name: song, event: e}\ntags:\n  - {name: a, class: P, triggers: [sogn]}",
            "line 4, column 36",
            "Did you mean `song`?"
        ),
        ("triggers: [{name: a, event: e}, {name: a, event: f}]\ntags: []", "line 1, column 40", "of another trigger"),
        (
            "triggers: [{name: s, event: e}]\ntags:\n  - {name: a, class: P, triggers: s}\n"
                + "  - {name: a, class: P, triggers: s}", "line 4, column 12", "is the name of another tag"
        ),
        ("triggers: [{name: s}]\ntags: []", "line 1, column 12", "has no `event`"),
        ("variables: [{name: v}]\ntags: []", "line 1, column 13", "must have exactly one of"),
        ("variables: [{name: v, built-in: Page}]\ntags: []", "line 1, column 33", "Write `Event Name`."),
        ("variables: [{name: v, constant: 1, default: 2}]\ntags: []", "line 1, column 45", "has no meaning here"),
        (parameter("\"{{gnere}}\""), "line 3, column 44", "Did you mean `genre`?"),
        (parameter("\"a {{gnere}} b\""), "line 3, column 44", "Did you mean `genre`?"),
        (parameter("{{genre}}"), "line 3, column 45", "put text that begins with { or [ in quotes"),
        (parameter("{genre: 1}"), "line 3, column 44", "Put a variable in quotes"),
        (parameter("&a 7"), "line 3", "has an anchor"), (parameter("!ruby a"), "line 3", "has a tag"),
        (bomb, "line 1, column 5", "has an anchor"),
    ]

    /// Ten levels of ten: the parser would compare billions of values as the key of a mapping.
    private static let bomb: String =
        "l0: &l0 [x]\n"
        + (1..<10).map { level in
            "l\(level): &l\(level) [\((0..<10).map { _ in "*l\(level - 1)" }.joined(separator: ", "))]\n"
        }.joined() + "? *l9\n: 1\n? [*l9]\n: 2\n"

    private static func parameter(_ value: String) -> String {
        "triggers: [{name: s, event: e}]\nvariables: [{name: genre, event-parameter: genre}]\n"
            + "tags: [{name: a, class: P, parameters: {k: \(value)}, triggers: s}]"
    }

    @Test("An `&` or a `*` in text is no anchor")
    func ampersand() async throws {
        try await withAPI { api in
            let text = Self.parameter("\"a&nbsp;*b*\"") + "  # &c, *d"
            #expect(await post(api, "e", container: text).status == 200)
        }
    }

    @Test("A wrong container is refused with its place and the nearest word", arguments: wrong)
    func wrongContainer(yaml: String, spot: String, words: String) async throws {
        try await withAPI { api in
            let (status, json) = await post(api, "e", container: yaml.isEmpty ? "#" : yaml)
            #expect(status == 400 && json.at("place") == "container" && json.at("code") == "invalid")
            #expect(json.at("error").text.contains(spot), "\(json)")
            #expect("\(json.at("error").text) \(json.at("remedy").text)".contains(words), "\(json)")
            #expect(json.at("line") != .null && json.at("column") != .null)
            let last = try api.log.lastPosition()
            #expect(last == .start)
        }
    }

    @Test(
        "Wrong fields are refused by name, and nothing is stored",
        arguments: [
            (#","language":"pascal""#, "language"), (#","quirks":["boxed"]"#, "quirks"), (#","quirks":[7]"#, "quirks"),
            (#","quirks":[],"language":"swift""#, "quirks"), (#","encodings":{"genre":"int"}"#, "encodings.genre"),
            (#","properties":{"n":1},"encodings":{"n":"byte"}"#, "encodings.n"), (#","properties":[]"#, "properties"),
            (#","encodings":{"a\u0007":"int"}"#, "encodings.a\u{FFFD}"),
            (#","device":"""#, "device"), (#","time":"noon""#, "time"), (#","time":"2199-01-01T00:00:00Z""#, "time"),
            (#","key":"a""#, "key"),
        ])
    func wrongFields(more: String, place: String) async throws {
        try await withAPI { api in
            let (status, json) = await post(api, "played song", more)
            #expect(status == 400 && json.at("place").text == place, "\(json)")
            let last = try api.log.lastPosition()
            #expect(last == .start)
        }
    }
}
