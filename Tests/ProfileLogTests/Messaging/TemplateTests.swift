import ProfileLogMessaging
import TestSupport
import Testing

/// The part of Liquid that messages use (spec/messaging-api 4).
@Suite("Template")
struct TemplateTests {
    private static let ana = MadeUpRecipient(
        attributes: [.firstName: .string("Ana"), .email: .string("ana@example.com"), .homeCity: .string("  ")],
        customAttributes: [
            "plan": .string("gold"), "visits": .int(3), "score": .double(2.5), "member": .bool(true),
            "tags": .array([.string("a"), .string("b")]),
            "empty": .array([]), "accents": .string("\u{E4}\u{F1}b"),
            "sizes": .object([.init("size", .string("XL")), .init("first", .int(9))]),
            "address": .object([.init("street", .string("High St"))]), "since": .date(OccurredAt(MadeUpRecipient.now)),
        ])

    private static let order: AttributeValue = .object([
        .init("count", .int(2)),
        .init(
            "items",
            .array([
                .object([.init("name", .string("tea")), .init("price", .int(4))]),
                .object([.init("name", .string("milk")), .init("price", .double(1.5))]),
            ])),
        .init("price", .string("12")),
    ])

    private static func rendered(_ text: String, entry: AttributeValue = .null) throws -> String {
        try Template(text).render(ana.context(trigger: order, entry: entry))
    }

    @Test(
        "A template renders",
        arguments: [
            ("", ""), ("plain } }} text", "plain } }} text"), ("Hi {{${first_name}}}!", "Hi Ana!"),
            ("{{ ${email_address} }} {{${email}}}", "ana@example.com ana@example.com"),
            ("{{${user_id}}} {{${braze_id}}}", "ana b1"),
            ("{{custom_attribute.${plan}}} {{custom_attribute.${visits}}}", "gold 3"),
            ("{{custom_attribute.${score}}} {{custom_attribute.${member}}}", "2.5 true"),
            ("{{custom_attribute.${tags}}} {{custom_attribute.${tags}[1]}}", "ab b"),
            ("{{custom_attribute.${tags}[-1]}}{{custom_attribute.${address}.street}}", "bHigh St"),
            ("{{custom_attribute.${address}['street']}}", "High St"),
            ("{{custom_attribute.${address}}}", #"{"street":"High St"}"#),
            ("{{api_trigger_properties.${items}[0].name}}", "tea"), ("{{campaign.${dispatch_id}}}", "d1"),
            ("{{campaign.${api_id}}} {{campaign.${name}}}", "c1 Spring"),
        ])
    func values(text: String, expected: String) throws {
        #expect(try Self.rendered(text) == expected)
    }

    @Test(
        "Properties of a canvas have two names", arguments: ["canvas_entry_properties", "context"])
    func canvas(word: String) throws {
        let text = "{{\(word).${step}}}"
        #expect(try Self.rendered(text, entry: .object([.init("step", .int(7))])) == "7")
    }

    @Test(
        "A filter changes the value",
        arguments: [
            ("{{${last_name} | default: 'friend'}}", "friend"), ("{{${first_name} | default: 'friend'}}", "Ana"),
            ("{{${last_name} | upcase | default: \"x\" | append: '!'}}", "x!"),
            ("{{${last_name} | default: ${first_name}}}", "Ana"), ("{{'' | default: 'x'}}", "x"),
            ("{{custom_attribute.${plan} | upcase}}", "GOLD"), ("{{'ÀB' | downcase}}", "àb"),
            ("{{'hELLO you' | capitalize}}", "Hello you"), ("{{'a' | append: 1 | append: ${first_name}}}", "a1Ana"),
            ("{{custom_attribute.${tags} | size}} {{'añb' | size}}", "2 3"),
            ("{{custom_attribute.${visits} | plus: 2}}", "5"), ("{{3 | minus: 5}}", "-2"),
            ("{{custom_attribute.${score} | plus: 1}}", "3.5"), ("{{api_trigger_properties.${price} | plus: 1}}", "13"),
            ("{{'2026-03-09T07:05:00Z' | date: '%d.%m.%y %H:%M'}}", "09.03.26 07:05"),
            ("{{custom_attribute.${since} | date: \"%F %T %A %b %e %I%p\"}}", "2026-03-01 12:30:05 Sunday Mar  1 12PM"),
            ("{{'now' | date: '%s %B %a 100%%'}}", "1772368205 March Sun 100%"),
            ("{{0 | date: '%F %a'}}", "1970-01-01 Thu"),
        ])
    func filters(text: String, expected: String) throws {
        #expect(try Self.rendered(text) == expected)
    }

    @Test(
        "An array and text say how many they hold, the first and the last",
        arguments: [
            ("{{custom_attribute.${tags}.size}} {{custom_attribute.${tags}.first}}", "2 a"),
            ("{{custom_attribute.${tags}.last}} {{custom_attribute.${tags}.last.size}}", "b 1"),
            ("{{${first_name}.size}} {{${first_name}.first}}{{${first_name}.last}}", "3 Aa"),
            ("{{campaign.${name}.first}}", "S"), ("{{custom_attribute.${empty}.size}}", "0"),
            ("{{custom_attribute.${accents}.size}} {{custom_attribute.${accents}.last}}", "3 b"),
            ("{{custom_attribute.${address}.size}} {{custom_attribute.${address}.street.size}}", "1 7"),
            ("{{api_trigger_properties.${items}.size}} {{api_trigger_properties.${items}.first.name}}", "2 tea"),
            ("{{api_trigger_properties.${items}.last.name.first}}", "m"),
            ("{{api_trigger_properties.${items}[-1].name.size | plus: 1}}", "5"),
            ("{{'x' | append: custom_attribute.${tags}.first}}", "xa"),
            ("{{${last_name}.size | default: 0}} {{custom_attribute.${empty}.first | default: '-'}}", "0 -"),
            ("{% assign tags = custom_attribute.${tags} %}{{tags.size}}{{tags.first}}{{tags.last}}", "2ab"),
            ("{% assign n = custom_attribute.${tags}.size | plus: 1 %}{{n}}", "3"),
            ("{% for item in api_trigger_properties.${items} %}{{item.size}}{{item.name.last}} {% endfor %}", "2a 2k "),
            ("{% for i in (1..custom_attribute.${tags}.size) %}{{i}}{% endfor %}", "12"),
            ("{{custom_attribute.${sizes}.size}} {{custom_attribute.${sizes}.first}}", "XL 9"),
        ])
    func facts(text: String, expected: String) throws {
        #expect(try Self.rendered(text) == expected)
    }

    @Test(
        "What a value cannot have is an error and chooses no branch",
        arguments: [
            ("custom_attribute.${tags}.siz == 2", "`custom_attribute.${tags}.siz`: an array has no `.siz`"),
            ("custom_attribute.${tags}.length", "an array has no `.length`"),
            ("custom_attribute.${tags}['size'] == 2", "an array has no `['size']`"),
            ("custom_attribute.${plan}.siz == blank", "text has no `.siz`"),
            ("custom_attribute.${plan}[0] == 'g'", "text has no `[0]`"),
            ("custom_attribute.${visits}.size == 1", "a number has no `.size`"),
            ("custom_attribute.${member}.first", "a boolean has no `.first`"),
            ("custom_attribute.${since}.year == 2026", "a time has no `.year`"),
            ("custom_attribute.${address}.first == blank", "an object has no `.first`"),
            ("custom_attribute.${address}[0] == blank", "an object has no `[0]`"),
            ("custom_attribute.${tags}.size.size == 1", "a number has no `.size`"),
            ("api_trigger_properties.${items}.name == 'tea'", "an array has no `.name`"),
            ("api_trigger_properties.${items}.first.name.lenght > 1", "text has no `.lenght`"),
        ])
    func unknownMembers(condition: String, expected: String) throws {
        let texts = [
            ("{% if \(condition) %}yes{% else %}no{% endif %}", 7),
            ("{% if false %}{% elsif \(condition) %}yes{% else %}no{% endif %}", 24),
        ]
        for (text, column) in texts {
            let stop = try #require(throws: RenderError.self) { try Self.rendered(text) }
            #expect(stop.reason.hasPrefix("line 1, column \(column): "), "\(stop.reason)")
            #expect(stop.reason.hasSuffix(expected), "\(stop.reason)")
        }
        let assigned = "{% assign x = \(condition.prefix { $0 != " " }) | default: 1 %}"
        #expect(throws: RenderError.self) { try Self.rendered(assigned) }
    }

    @Test(
        "A condition chooses",
        arguments: [
            ("custom_attribute.${plan} == 'gold'", true), ("custom_attribute.${plan} != 'gold'", false),
            ("{{custom_attribute.${plan}}} == 'gold'", true), ("${last_name} == blank", true),
            ("${first_name} != blank", true), ("${home_city} == blank", true), ("blank == ${last_name}", true),
            ("${last_name}", false), ("${first_name}", true), ("custom_attribute.${member}", true),
            ("custom_attribute.${visits} == 3.0", true), ("custom_attribute.${visits} > 2", true),
            ("custom_attribute.${visits} <= 2", false), ("custom_attribute.${visits} < 4", true),
            ("custom_attribute.${visits} >= 3", true), ("custom_attribute.${visits} <> 3", false),
            ("${last_name} > 2", false), ("${last_name} == 'x'", false), ("${last_name} != 'x'", true),
            ("custom_attribute.${tags} contains 'a'", true), ("custom_attribute.${tags} contains 'c'", false),
            ("${first_name} contains 'na'", true), ("custom_attribute.${since} > '2026-01-01'", true),
            ("true and false or true", true), ("true or false and false", true), ("false and true or true", false),
            ("custom_attribute.${plan} == 'gold' and ${last_name} != blank", false),
            ("custom_attribute.${tags}.size == 2", true), ("custom_attribute.${tags}.size > 2", false),
            ("custom_attribute.${tags}.first == 'a' and custom_attribute.${tags}.last == 'b'", true),
            ("custom_attribute.${none}.size == 2", false), ("custom_attribute.${empty}.first == blank", true),
            ("{{custom_attribute.${tags}.size}} >= 2", true), ("${first_name}.first == 'A'", true),
            ("api_trigger_properties.${items}.size == custom_attribute.${tags}.size", true),
            ("api_trigger_properties.${items}.first.color == blank", true),
            ("${home_city} == nil", false), ("${last_name} == nil", true), ("${last_name} != null", false),
            ("false == nil", false), ("false == blank", true), ("custom_attribute.${address} contains 'street'", true),
            ("custom_attribute.${address} contains 'High St'", false),
            ("custom_attribute.${visits} contains '3'", false),
        ])
    func conditions(condition: String, holds: Bool) throws {
        #expect(try Self.rendered("{% if \(condition) %}yes{% else %}no{% endif %}") == (holds ? "yes" : "no"))
    }

    @Test("The first branch that holds is rendered, and none if there is no else")
    func branches() throws {
        let text =
            "{% if ${last_name} %}a{% elsif custom_attribute.${visits} == 3 %}b{% elsif true %}c{% else %}d{% endif %}"
        #expect(try Self.rendered(text) == "b")
        #expect(try Self.rendered("({% if false %}a{% endif %})") == "()")
    }

    @Test("A variable keeps what it was given, and white space is taken away where a hyphen asks for it")
    func variables() throws {
        let text = """
            {%- assign total = custom_attribute.${visits} | plus: 1 -%}
            {{- total }},
            {%- if total == 4 -%} four {%- endif -%}
            """
        #expect(try Self.rendered(text) == "4,four")
    }

    @Test("A loop goes through an array or through numbers")
    func loops() throws {
        let text = "{% for item in api_trigger_properties.${items} %}{{item.name}}={{item.price}};{% endfor %}"
        #expect(try Self.rendered(text) == "tea=4;milk=1.5;")
        #expect(try Self.rendered("{% for i in (1..api_trigger_properties.${count}) %}{{i}},{% endfor %}") == "1,2,")
        let nested = "{% for i in (1..2) %}{% for j in (i..2) %}{{i}}{{j}} {% endfor %}{% endfor %}"
        #expect(try Self.rendered(nested) == "11 12 22 ")
    }

    @Test("A template can refuse the message, with a reason or without")
    func abort() throws {
        let text = "{% if ${last_name} == blank %}{% abort_message('no last name') %}{% endif %}Hello"
        #expect(throws: RenderError.aborted(reason: "no last name")) { try Self.rendered(text) }
        #expect(throws: RenderError.aborted(reason: nil)) { try Self.rendered("a{% abort_message() %}") }
    }

    @Test(
        "What a user lacks is an error that names the place",
        arguments: [
            ("Hi\n {{${last_name}}}", "line 2, column 4: `${last_name}` has no value for this user"),
            ("{{custom_attribute.${pla}}}", "line 1, column 3: `custom_attribute.${pla}` has no value for this user"),
            (
                "{{api_trigger_properties.${items}[7].name}}",
                "column 3: `api_trigger_properties.${items}[7].name` has no"
            ),
            ("é{{event_properties.${x} | upcase}}", "line 1, column 4: `event_properties.${x}` has no value"),
            ("{% assign x = ${last_name} %}{{x}}", "line 1, column 32: `x` has no value for this user"),
            ("{% for x in custom_attribute.${no} %}{% endfor %}", "column 13: `custom_attribute.${no}` has no value"),
            (
                "{% for x in custom_attribute.${plan} %}{% endfor %}",
                "`custom_attribute.${plan}` is no array for this user"
            ),
            ("{% for i in (1..${first_name}) %}{% endfor %}", "a bound is no whole number for this user"),
            ("{{${first_name} | plus: 1}}", "line 1, column 19: `plus` cannot calculate with this value"),
            ("{{9223372036854775807 | plus: 1}}", "`plus` cannot calculate with this value"),
            ("{{${first_name} | date: '%F'}}", "`date` cannot read this time"),
            ("{{99999999999999 | date: '%F'}}", "`date` cannot read this time"),
            ("{% if ${first_name} > 1 %}{% endif %}", "column 7: the two values have no order for this user"),
        ])
    func missing(text: String, expected: String) throws {
        let stop = try #require(throws: RenderError.self) { try Self.rendered(text) }
        guard case .failed(let error) = stop else {
            Issue.record("\(stop)")
            return
        }
        #expect(error.description.contains(expected))
        #expect(!error.remedy.isEmpty)
        #expect(!error.description.contains("Ana"))
    }

    @Test(
        "What means nothing is an error of the template, with the nearest right word",
        arguments: [
            (
                "a {{${first_nam}}}", "line 1, column 5: `first_nam` is no standard attribute",
                "Did you mean `first_name`?"
            ),
            ("{{custom_atribute.${x}}}", "`custom_atribute` means nothing before", "Did you mean `custom_attribute`?"),
            ("{{campaign.${dispach_id}}}", "`dispach_id` is not known of a campaign", "Did you mean `dispatch_id`?"),
            ("{{${first_name} | upcas}}", "column 19: `upcas` is no filter", "Did you mean `upcase`?"),
            ("{{'x' | }}", "the name of a filter is missing", "default"),
            ("{{'x' | append}}", "`append` lacks its value", "`append: value`"),
            ("{{'x' | upcase: 1}}", "`upcase` takes no value", "Take it out."),
            ("{{'x' | date: '%Q'}}", "`%Q` is no directive", "%F"), ("{{'x' | date: '%'}}", "the format ends", "%F"),
            ("\n{% iff true %}", "line 2, column 4: `iff` is no tag", "Did you mean `if`?"),
            ("{% %}", "there is no tag", "{%"), ("{% capture x %}", "`capture` is no tag", "There are if, elsif"),
            ("{{total}}", "`total` has no value", "Assign it before"),
            ("{% assign total = 1 %}{{totl}}", "`totl` has no value", "Did you mean `total`?"),
            ("{% for a in (1..2) %}{% endfor %}{{a}}", "`a` has no value", "Assign it"),
            ("a{% if true %}b", "line 1, column 2: `if` has no end", "{% endif %}"),
            ("{% for x in ${first_name} %}", "`for` has no end", "{% endfor %}"),
            ("{% endif %}", "`endif` is outside its block", "Take it out"),
            ("{% if true %}{% endfor %}", "`endfor` is outside its block", "The open tag is `if` in line 1."),
            ("{% if true %}{% else %}{% elsif true %}{% endif %}", "`elsif` is outside its block", "`if`"),
            ("{{ ${first_name}", "line 1, column 1: `{{` has no end", "`}}`"), ("{{'x}}", "the text has no end", "'"),
            ("{{${first_name}} x", "line 1, column 16: unexpected text before `}}`", "here"),
            ("{{${first_name", "`${` has no end", "`}`"), ("{{${}}}", "`${…}` needs a name", "there"),
            ("{{}}", "no value begins here", "${name}"), ("{{", "the text ends before a value", "${name}"),
            ("{% if %}{% endif %}", "no value begins here", "${name}"), ("{{1.2.3}}", "`1.2.3` is no number", "1.5"),
            ("{% if true & false %}{% endif %}", "unexpected text before `%}`", "here"),
            ("{% for x of y %}", "`in` is missing", "for item in list"),
            ("{% for x in 3 %}", "nothing to go through", "(1..3)"),
            ("{% assign = 1 %}", "the name of a variable is missing", "letters"),
            ("{% assign x 1 %}", "`=` is missing", "here"), ("{% abort_message %}", "`(` is missing", "here"),
            (
                "{% if ${first_name}.siz == 3 %}", "line 1, column 20: `siz` is no member of text",
                "Did you mean `size`?"
            ),
            ("{% if ${first_name}[0] == 'A' %}", "line 1, column 20: text has no elements", "`.first`"),
            ("{{campaign.${name}.length}}", "`length` is no member of text", "There are size, first, last"),
            ("{% if ${first_name} containsx %}", "unexpected text before `%}`", "here"),
            ("{% if ${first_name} = 'x' %}", "unexpected text before `%}`", "here"),
            ("{% if ${first_name} === 'x' %}", "no value begins here", "${name}"),
            ("{% if true xor true %}", "unexpected text before `%}`", "here"),
            ("{% if true and not false %}", "`not` has no value", "Assign it before"),
            ("{% if 'x' | size == 1 %}", "unexpected text before `%}`", "here"),
            ("{% if {{${first_name}}}.size == 1 %}", "unexpected text before `%}`", "here"),
            ("{{custom_attribute.${x}.}}", "unexpected text before `}}`", "here"),
            ("{{custom_attribute.${x}.size?}}", "unexpected text before `}}`", "here"),
            ("{{custom_attribute.${x}[${first_name}]}}", "is neither a number nor text", "[0]"),
        ])
    func refused(text: String, reason: String, remedy: String) throws {
        let error = try #require(throws: TemplateError.self) { try Template(text) }
        #expect(error.description.contains(reason))
        #expect(error.remedy.contains(remedy))
    }

    @Test("A template, its blocks, its steps and its output have limits")
    func limits() throws {
        let most = String(repeating: "a", count: Template.maxBytes)
        #expect(try Template(most).constant == most)
        let large = #expect(throws: TemplateError.self) { try Template(String(repeating: "a", count: 1 << 20)) }
        #expect(large?.reason == "the template is larger than 65536 bytes")

        func nested(_ depth: Int) -> String {
            String(repeating: "{% if true %}", count: depth) + "x" + String(repeating: "{% endif %}", count: depth)
        }
        #expect(try Self.rendered(nested(16)) == "x")
        #expect(throws: TemplateError.self) { try Template(nested(17)) }
        #expect(throws: TemplateError.self) { try Template(nested(3_000)) }

        let unending = #expect(throws: TemplateError.self) {
            try Template("a {% for i in (1..1000000000) %}{% endfor %}")
        }
        #expect(unending?.description == "line 1, column 15: the loop takes more than 100000 steps")
        let endless = "{% for i in (1..1000) %}{% for j in (1..1000) %}{% endfor %}{% endfor %}"
        #expect(Self.fault(of: endless)?.contains("takes more than 100000 steps") == true)
        let doubling = "{% assign x = 'ab' %}{% for i in (1..60) %}{% assign x = x | append: x %}{% endfor %}"
        #expect(Self.fault(of: doubling) == "the text is larger than 262144 bytes")
        let flood = "{% for i in (1..100) %}\(String(repeating: "0123456789", count: 400)){% endfor %}"
        #expect(Self.fault(of: flood)?.contains("is larger than 262144 bytes") == true)
        let long = String(repeating: "{% if true and true %}{% endif %}", count: 1_000)
        #expect(try Self.rendered(long) == "")
        let chain = "{% if true" + String(repeating: " and true", count: 7_000) + " %}x{% endif %}"
        #expect(try Self.rendered(chain) == "x")
    }

    @Test(
        "What looks at a long value costs by its length",
        arguments: [
            "{% if BIG == 'x' %}{% endif %}", "{% if 'x' < BIG %}{% endif %}", "{% if BIG contains 'x' %}{% endif %}",
            "{% assign y = BIG | size %}", "{% assign y = BIG | plus: 1 %}", "{% assign y = 1 | minus: BIG %}",
            "{% assign y = BIG | append: '' %}", "{% assign y = '' | append: BIG %}",
            "{% assign y = 'now' | date: BIG %}",
            "{% assign y = BIG | upcase %}",
        ])
    func longValues(body: String) {
        func fault(_ bytes: Int) -> String? {
            let trigger = AttributeValue.object([.init("big", .string(String(repeating: "0", count: bytes)))])
            let body = body.replacing("BIG", with: "api_trigger_properties.${big}")
            do {
                let template = try Template("{% for i in (1..1000) %}\(body){% endfor %}")
                _ = try template.render(Self.ana.context(trigger: trigger))
                return nil
            } catch {
                return "\(error)"
            }
        }
        #expect(fault(10) == nil)
        #expect(fault(50_000)?.contains("takes more than 100000 steps") == true, "\(fault(50_000) ?? "")")
    }

    @Test("All renderings of a request share one budget")
    func budget() throws {
        let template = try Template("{% for i in (1..9000) %}{% endfor %}x{{'y'}}")
        let budget = RenderBudget(steps: 20_000)
        for _ in 0..<2 { #expect(try template.render(Self.ana.context(budget: budget)) == "xy") }
        #expect(throws: RenderError.self) { try template.render(Self.ana.context(budget: budget)) }
        for _ in 0..<20 { budget.addUser() }
        #expect(throws: Never.self) { try template.render(Self.ana.context(budget: budget)) }
    }

    /// Returns the reason why `text` cannot be rendered.
    private static func fault(of text: String) -> String? {
        do {
            _ = try rendered(text)
            return nil
        } catch RenderError.failed(let error) {
            return error.reason
        } catch {
            return nil
        }
    }

    /// Pieces of templates in any order: the parser reads them or names a place within the text.
    @Test("No text makes the parser or the renderer trap", arguments: Thoroughness.seeds(short: 100, full: 2000))
    func fuzz(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let pieces = [
            "{{", "}}", "{%", "%}", "{{-", "-%}", "${first_name}", "custom_attribute.${plan}", "${", "}", "'x'", "'",
            "\"",
            " ", "\n", "é", "|", "default:", "append: ", "date: '%F'", "size", "plus: 1", "if", "elsif", "else",
            "endif",
            "for x in", "endfor", "assign x =", "abort_message('no')", "x", "(1..3)", "(", ")", "[0]", "[", "]", ".",
            "..",
            "==", "!=", "<", "contains", "and", "or", "blank", "true", "1", "-", "1.5", ",", "\u{301}", "\0",
        ]
        for _ in 0..<50 {
            let text = (0..<random.next(below: 40)).map { _ in pieces[random.next(below: pieces.count)] }.joined()
            do throws(TemplateError) {
                let template = try Template(text)
                _ = try? template.render(Self.ana.context(trigger: Self.order))
            } catch {
                let lines = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
                #expect((1...lines.count).contains(error.spot.line), "seed \(seed): \(text)")
                let line = lines[min(error.spot.line, lines.count) - 1]
                #expect((1...(line.count + 1)).contains(error.spot.column), "seed \(seed): \(text)")
            }
        }
    }
}
