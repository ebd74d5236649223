import ProfileLogMessaging
import Testing

/// Connected audiences (spec/messaging-api 3).
@Suite("Audience")
struct AudienceTests {
    private static func day(_ offset: Int) -> AttributeValue {
        .date(OccurredAt(Timestamp(rawValue: MadeUpRecipient.now.rawValue + Int64(offset) * 86_400_000_000)))
    }

    private static let ana = MadeUpRecipient(
        attributes: [.emailSubscribe: .string("opted_in")],
        customAttributes: [
            "plan": .string("Gold"), "visits": .int(3), "member": .bool(true),
            "tags": .array([.string("a"), .int(2)]), "seen": day(-3), "renewal": day(3),
        ],
        lastUsedApp: OccurredAt(iso8601: "2026-02-20")?.timestamp)

    private static func takesAna(_ text: String) throws -> Bool {
        let types: [Name: AttributeType] = [
            "plan": .string, "visits": .number, "member": .boolean, "tags": .array, "seen": .time, "renewal": .time,
        ]
        return try Audience(json(text)) { types[$0] }.takes(ana, at: MadeUpRecipient.now)
    }

    @Test(
        "A custom attribute is compared",
        arguments: [
            ("plan", "equals", #""Gold""#, true), ("plan", "equals", #""gold""#, false),
            ("plan", "not_equal", #""x""#, true),
            ("none", "equals", #""x""#, false), ("none", "not_equal", #""x""#, true),
            ("plan", "matches_regex", #""^g.ld$""#, true), ("plan", "matches_regex", #""ol""#, true),
            ("plan", "does_not_match_regex", #""x+""#, true), ("plan", "does_not_match_regex", #""o""#, false),
            ("plan", "exists", "null", true), ("none", "exists", "null", false),
            ("none", "does_not_exist", "null", true),
            ("tags", "includes_value", #""a""#, true), ("tags", "includes_value", "2.0", true),
            ("tags", "includes_value", #""b""#, false), ("tags", "does_not_include_value", #""b""#, true),
            ("visits", "equals", "3.0", true), ("visits", "not_equal", "3", false),
            ("visits", "greater_than", "2", true),
            ("visits", "greater_than", "3", false), ("visits", "greater_than_or_equal_to", "3", true),
            ("visits", "less_than", "3", false), ("visits", "less_than_or_equal_to", "3", true),
            ("none", "less_than", "3", false), ("member", "equals", "true", true),
            ("member", "does_not_equal", "true", false),
            ("seen", "less_than_x_days_ago", "4", true), ("seen", "less_than_x_days_ago", "2", false),
            ("renewal", "less_than_x_days_ago", "4", false), ("seen", "greater_than_x_days_ago", "2", true),
            ("seen", "greater_than_x_days_ago", "4", false), ("renewal", "less_than_x_days_in_the_future", "4", true),
            ("renewal", "less_than_x_days_in_the_future", "2", false),
            ("seen", "less_than_x_days_in_the_future", "4", false),
            ("renewal", "greater_than_x_days_in_the_future", "2", true),
            ("renewal", "greater_than_x_days_in_the_future", "4", false), ("seen", "after", #""2026-02-01""#, true),
            ("seen", "before", #""2026-02-01""#, false), ("none", "after", #""2026-02-01""#, false),
        ])
    func customAttributes(name: String, comparison: String, value: String, takes: Bool) throws {
        let filter = #"{"custom_attribute_name":"\#(name)","comparison":"\#(comparison)","value":\#(value)}"#
        #expect(try Self.takesAna(#"{"custom_attribute":\#(filter)}"#) == takes)
    }

    @Test(
        "Subscriptions and the last use are compared",
        arguments: [
            (#"{"email_subscription_status":{"comparison":"is","value":"opted_in"}}"#, true),
            (#"{"email_subscription_status":{"comparison":"is_not","value":"opted_in"}}"#, false),
            (#"{"push_subscription_status":{"comparison":"is","value":"subscribed"}}"#, true),
            (#"{"push_subscription_status":{"comparison":"is","value":"unsubscribed"}}"#, false),
            (#"{"last_used_app":{"comparison":"after","value":"2026-02-01T00:00:00Z"}}"#, true),
            (#"{"last_used_app":{"comparison":"before","value":"2026-02-01T00:00:00Z"}}"#, false),
        ])
    func others(filter: String, takes: Bool) throws {
        #expect(try Self.takesAna(filter) == takes)
        var nobody = Self.ana
        nobody.lastUsedApp = nil
        let audience = try Audience(json(filter)) { _ in nil }
        #expect(try filter.contains("last_used_app") ? !audience.takes(nobody, at: MadeUpRecipient.now) : true)
    }

    @Test("AND needs all filters, OR one, at any depth")
    func joined() throws {
        let yes = #"{"custom_attribute":{"custom_attribute_name":"plan","comparison":"exists"}}"#
        let no = #"{"custom_attribute":{"custom_attribute_name":"plan","comparison":"does_not_exist"}}"#
        #expect(try Self.takesAna(#"{"AND":[\#(yes),\#(yes)]}"#))
        #expect(try !Self.takesAna(#"{"AND":[\#(yes),\#(no)]}"#))
        #expect(try Self.takesAna(#"{"OR":[\#(no),\#(yes)]}"#))
        #expect(try !Self.takesAna(#"{"OR":[\#(no),\#(no)]}"#))
        #expect(try Self.takesAna(#"{"AND":[{"OR":[\#(no),{"AND":[\#(yes)]}]},\#(yes)]}"#))
    }

    @Test(
        "What no audience can be is refused, with the place and the nearest right word",
        arguments: [
            ("[]", "audience: 'audience' is not valid", "exactly one of AND, OR"),
            (#"{"AND":[],"OR":[]}"#, "audience: ", "exactly one"),
            (#"{"AND":[]}"#, "audience.AND: ", "list of filters"),
            (#"{"AND":[{"XOR":1}]}"#, "audience.AND[0].XOR: 'XOR' is not known", "Did you mean 'OR'?"),
            (#"{"custom_attribute":{}}"#, "custom_attribute_name: 'custom_attribute_name' is required", "Add"),
            (#"{"custom_attribute":{"custom_attribute_name":1}}"#, "custom_attribute_name' is not valid", "1 to 255"),
            (#"{"custom_attribute":{"custom_attribute_name":"x"}}"#, "comparison' is required", "equals"),
            (
                #"{"custom_attribute":{"custom_attribute_name":"x","comparison":"equal","value":1}}"#,
                "audience.custom_attribute.comparison: 'equal' is not known", "Did you mean 'equals'?"
            ),
            (
                #"{"custom_attribute":{"custom_attribute_name":"plan","comparison":"greater_than","value":1}}"#,
                "'greater_than' does not fit the type of the attribute, String", "matches_regex"
            ),
            (
                #"{"custom_attribute":{"custom_attribute_name":"x","comparison":"greater_than","value":"1"}}"#,
                "audience.custom_attribute.value: 'value' is not valid", "number"
            ),
            (
                #"{"custom_attribute":{"custom_attribute_name":"x","comparison":"equals"}}"#, "value' is not",
                "It must be text"
            ),
            (
                #"{"custom_attribute":{"custom_attribute_name":"x","comparison":"matches_regex","value":"("}}"#,
                "audience.custom_attribute.value: 'value' is no regular expression", "Correct the pattern."
            ),
            (
                #"{"custom_attribute":{"custom_attribute_name":"x","comparison":"matches_regex","value":"(?=a)"}}"#,
                "audience.custom_attribute.value: 'value' has a group of a kind", "Use `(…)`"
            ),
            (
                #"{"custom_attribute":{"custom_attribute_name":"x","comparison":"less_than_x_days_ago","value":-1}}"#,
                "value", "days from 0"
            ),
            (
                #"{"custom_attribute":{"custom_attribute_name":"x","comparison":"after","value":"soon"}}"#, "value",
                "ISO 8601"
            ),
            (#"{"last_used_app":{"comparison":"after","value":3}}"#, "audience.last_used_app.value", "ISO 8601"),
            (#"{"push_subscription_status":{"comparison":"was","value":"x"}}"#, "comparison: 'was'", "is, is_not"),
            (
                #"{"push_subscription_status":{"comparison":"is","value":"optedin"}}"#, "value: 'optedin'",
                "Did you mean 'opted_in'?"
            ),
        ])
    func refused(text: String, fault: String, remedy: String) throws {
        let error = try #require(throws: SendError.self) { try Self.takesAna(text) }
        #expect(error.description.contains(fault))
        #expect(error.remedy.contains(remedy))
    }

    @Test("Filters are nested at most 16 deep, and at most 200")
    func limits() throws {
        let leaf = #"{"last_used_app":{"comparison":"after","value":"2026-01-01"}}"#
        func nested(_ depth: Int) -> String {
            String(repeating: #"{"AND":["#, count: depth) + leaf + String(repeating: "]}", count: depth)
        }
        #expect(try Self.takesAna(nested(15)))
        #expect(throws: SendError.self) { try Self.takesAna(nested(16)) }
        func list(_ count: Int) -> String {
            #"{"OR":["# + Array(repeating: leaf, count: count).joined(separator: ",") + "]}"
        }
        #expect(try Self.takesAna(list(199)))
        #expect(throws: SendError.self) { try Self.takesAna(list(200)) }
    }
}
