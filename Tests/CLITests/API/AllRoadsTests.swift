import Foundation
import ProfileLog
import TestSupport
import Testing

@Suite("A value means the same on every road into a store")
struct AllRoadsTests {
    /// The log requests of the user `u`, one after the other: the API's kind with its members.
    private static let good: [(kind: String, body: String)] = [
        ("attributes", #"{"attributes":{"a":1}}"#),
        ("attributes", #"{"attributes":{"a":{"inc":2}}}"#),
        ("attributes", #"{"attributes":{"b":1.0,"big":9007199254740993,"c":true,"none":null}}"#),
        ("attributes", #"{"attributes":{"born":{"$time":"2000-01-01T00:00:00Z"}}}"#),
        ("attributes", #"{"attributes":{"born":{"$time":"20000101"}}}"#),
        ("attributes", #"{"attributes":{"t":{"add":["x",{"$time":"2026-01-31T23:59:58+01:00"}]}}}"#),
        ("attributes", #"{"attributes":{"t":{"remove":["x"],"add":["y"]}}}"#),
        ("attributes", #"{"attributes":{"o":{"$set":{"inc":1}}}}"#),
        ("attributes", #"{"attributes":{"o":{"$merge":{"k":{"deep":[1,2.5]}}}}}"#),
        ("attributes", #"{"attributes":{"plain":{"x":[{"y":"01/02/2026"}]}}}"#),
        ("attributes", #"{"attributes":{"list":{"$add":[{"id":1},{"id":2}]}}}"#),
        ("attributes", #"{"attributes":{"day":"20260101"}}"#),
        ("event", #"{"name":"e","properties":{"at":{"$time":"2026-01-31"},"n":2,"o":{"inc":1},"r":2.0}}"#),
        ("user-attribute", #"{"attribute":"first_name","value":"Jane \u00e9"}"#),
        ("user-attribute", #"{"attribute":"dob","value":"1990-12-31"}"#),
        ("user-attribute", #"{"attribute":"email_open_tracking_disabled","value":true}"#),
        ("user-attribute", #"{"attribute":"current_location","value":{"longitude":13.5,"latitude":52}}"#),
        ("user-attribute", #"{"attribute":"marked_email_as_spam_at","value":{"$time":"2026-01-31T10:00:00+01:00"}}"#),
        ("user-attribute", #"{"attribute":"first_name","value":null}"#),
        ("purchase", #"{"product":"p","currency":"EUR","price":9.5}"#),
        (
            "purchase",
            #"{"product":"p","currency":"JPY","price":-2,"quantity":3,"#
                + #""properties":{"a":[1.0],"t":{"$time":"20260131"}}}"#
        ),
    ]

    private static let bad: [(kind: String, body: String)] = [
        ("attributes", #"{"attributes":{"a":{"inc":"x"}}}"#), ("attributes", #"{"attributes":{"a":{"add":1}}}"#),
        ("attributes", #"{"attributes":{"a":{"$time":"01/02/2026"}}}"#),
        ("attributes", #"{"attributes":{"a":{"$time":"1/31/2026"}}}"#),
        ("attributes", #"{"attributes":{"a":{"$time":5}}}"#),
        ("event", #"{"name":"e","properties":{"at":{"$time":"Sat 01 31 23:59:59.Z 2026"}}}"#),
        ("user-attribute", #"{"attribute":"gender","value":"female"}"#),
        ("user-attribute", #"{"attribute":"dob","value":"12/31/1990"}"#),
        ("user-attribute", #"{"attribute":"marked_email_as_spam_at","value":{"$time":"01/02/2026"}}"#),
        ("user-attribute", #"{"attribute":"shoe_size","value":"7"}"#),
        ("purchase", #"{"product":"p","currency":"euro","price":1}"#),
        ("purchase", #"{"product":"p","currency":"EUR","price":1,"quantity":0}"#),
        ("purchase", #"{"product":"p","currency":"EUR","price":1e300,"quantity":100}"#),
        ("purchase", #"{"product":"p","currency":"EUR","price":1,"properties":{"t":{"$time":"1-2-2026"}}}"#),
    ]

    private static func members(_ body: String) throws -> [AttributeValue.Member] {
        guard case .object(let members) = try JSON.parse(Array(body.utf8)) else { return [] }
        return members
    }

    private static func text(_ value: AttributeValue) -> String {
        var json = JSONWriter()
        json.value(value)
        return String(decoding: json.bytes, as: UTF8.self)
    }

    /// A line that is `body`, with more members at its beginning.
    private static func line(_ more: String, _ body: String) -> String { "{\(more),\(body.dropFirst())" }

    private static func short(_ row: (kind: String, body: String)) -> String {
        let kinds = ["event": "custom_event", "attributes": "custom_attribute", "user-attribute": "user_attribute"]
        let body = row.body.replacing(#""product""#, with: #""product_id""#)
        return line(#""kind":"\#(kinds[row.kind] ?? row.kind)","user":"u""#, body)
    }

    private static func long(_ row: (kind: String, body: String)) -> String {
        let kinds = [
            "event": "customEventLogged", "attributes": "customAttributesChanged",
            "user-attribute": "userAttributesChanged", "purchase": "purchaseLogged",
        ]
        return line(#""kind":"\#(kinds[row.kind] ?? "")","user":"u""#, row.body)
    }

    /// The command that logs it.
    private static func arguments(_ row: (kind: String, body: String)) throws -> [String] {
        let all = try members(row.body)
        func plain(_ name: Name) -> String {
            guard let value = all.first(where: { $0.key == name })?.value else { return "" }
            return if case .string(let text) = value { text } else { text(value) }
        }
        let values = all.first { $0.key == "attributes" || $0.key == "properties" }?.value
        let pairs = try values.map { try members(text($0)).map { "\($0.key.text)=\(text($0.value))" } } ?? []
        let properties = pairs.flatMap { ["-p", $0] }
        switch row.kind {
        case "event": return ["log", "event", "u", plain("name")] + properties
        case "attributes": return ["log", "attribute", "u"] + pairs
        case "purchase":
            let quantity = plain("quantity").isEmpty ? [] : ["--quantity", plain("quantity")]
            return [
                "log", "purchase", "u", plain("product"), "--currency", plain("currency"), "--price=\(plain("price"))",
            ]
                + quantity + properties
        default: return ["log", "user-attribute", "u", plain("attribute"), plain("value")]
        }
    }

    /// A way into a store.
    private struct Road: Sendable {
        let name: String
        /// Tells whether it leads through a service, which runs for as long as rows are sent.
        var isService = false
        /// Sends rows to the store, or to the service with this URL. It gives whether everything was taken.
        let send: @Sendable (CLI, String, [(kind: String, body: String)]) throws -> Bool
    }

    private static let roads: [Road] = [
        Road(name: "command line") { cli, _, rows in
            try rows.allSatisfy { try cli.run(arguments($0)).status == 0 }
        },
        Road(name: "API", isService: true) { cli, url, rows in
            try rows.allSatisfy { row in
                try post("\(url)/v1/log/\(row.kind)", line(#""user":"u""#, row.body), cli) == "200"
            }
        },
        Road(name: "batch", isService: true) { cli, url, rows in
            let items = rows.map { line(#""kind":"log/\#($0.kind)","user":"u""#, $0.body) }
            let body = #"{"items":[\#(items.joined(separator: ","))],"atomic":true}"#
            return try post("\(url)/v1/batch", body, cli) == "200"
        },
        Road(name: "import") { cli, _, rows in try imports(rows.map(short), cli) },
        Road(name: "import of an export") { cli, _, rows in try imports(rows.map(long), cli) },
        Road(name: "fixtures") { cli, _, rows in try fixtures(rows.map(short), cli) },
        Road(name: "fixtures of an export") { cli, _, rows in try fixtures(rows.map(long), cli) },
        Road(name: "scenario", isService: true) { cli, url, rows in
            let steps = rows.map { "  - log-\($0.kind): \(line(#""user":"u""#, $0.body))\n" }
            let file = try cli.write("name: all\nsteps:\n\(steps.joined())", as: "all.yaml")
            return try cli.run("scenario", "run", file, "--url", url).status == 0
        },
    ]

    private static func road(_ name: String) throws -> Road { try #require(roads.first { $0.name == name }) }

    /// Runs `body` with the URL of a service on the store, if the road leads through one.
    private static func withService(_ road: Road, _ cli: CLI, _ body: (String) throws -> Void) throws {
        if !road.isService { return try body("") }
        let service = try RemoteTests.Service(cli)
        defer { _ = service.end() }
        try body(service.url)
    }

    private static func imports(_ lines: [String], _ cli: CLI) throws -> Bool {
        try cli.run("import", try cli.write(lines.joined(separator: "\n"), as: "lines.jsonl")).status == 0
    }

    private static func fixtures(_ lines: [String], _ cli: CLI) throws -> Bool {
        let file = try cli.write(lines.joined(separator: "\n"), as: "lines.jsonl")
        let script = """
            "$1" --store "$2" --port 0 --port-file port --fixtures "$3" 2> log & p=$!
            while kill -0 $p 2> /dev/null && [ ! -s port ]; do sleep 0.05; done
            [ -s port ] && kill $p
            wait $p
            """
        return try cli.shell(script, [ChildProcess.built("profiled").path, cli.store, file]).status == 0
    }

    /// The status of the answer.
    private static func post(_ url: String, _ body: String, _ cli: CLI) throws -> String {
        let file = try cli.write(body, as: "body.json")
        let script =
            "curl -s -o answer.json -w '%{http_code}' -H 'Content-Type: application/json' --data @\"$1\" \"$2\""
        return try cli.shell(script, [file, url]).output
    }

    /// Returns the stored content: the content of each event, in order.
    private static func content(_ cli: CLI) throws -> [String] {
        let kept: Set<Name> = [
            "kind", "attributes", "name", "properties", "attribute", "value", "product", "currency", "price",
            "quantity",
        ]
        return try cli.succeed("export").lines.compactMap { line in
            let members = try members(line).filter { kept.contains($0.key) }
            let kind = members.first { $0.key == "kind" }?.value
            return kind == .string("userCreated") || kind == .string("userChanged") ? nil : text(.object(members))
        }
    }

    @Test("Every road stores the same values", arguments: roads.map(\.name))
    func same(road: String) throws {
        let cli = try CLI()
        let road = try Self.road(road)
        try Self.withService(road, cli) { url in
            let isTaken = try road.send(cli, url, Self.good)
            #expect(isTaken)
        }
        let expected = [
            #"{"attributes":{"a":1},"kind":"customAttributesChanged"}"#,
            #"{"attributes":{"a":{"inc":2}},"kind":"customAttributesChanged"}"#,
            #"{"attributes":{"b":1.0,"big":9007199254740993,"c":true,"none":null},"kind":"customAttributesChanged"}"#,
            #"{"attributes":{"born":{"$time":"2000-01-01T00:00:00.000Z"}},"kind":"customAttributesChanged"}"#,
            #"{"attributes":{"born":{"$time":"2000-01-01T00:00:00.000Z"}},"kind":"customAttributesChanged"}"#,
            #"{"attributes":{"t":{"add":["x",{"$time":"2026-01-31T23:59:58.000+01:00"}]}},"#
                + #""kind":"customAttributesChanged"}"#,
            #"{"attributes":{"t":{"add":["y"]}},"kind":"customAttributesChanged"}"#,
            #"{"attributes":{"t":{"remove":["x"]}},"kind":"customAttributesChanged"}"#,
            #"{"attributes":{"o":{"$set":{"inc":1}}},"kind":"customAttributesChanged"}"#,
            #"{"attributes":{"o":{"$merge":{"k":{"deep":[1,2.5]}}}},"kind":"customAttributesChanged"}"#,
            #"{"attributes":{"plain":{"x":[{"y":"01/02/2026"}]}},"kind":"customAttributesChanged"}"#,
            #"{"attributes":{"list":{"$add":[{"id":1},{"id":2}]}},"kind":"customAttributesChanged"}"#,
            #"{"attributes":{"day":"20260101"},"kind":"customAttributesChanged"}"#,
            #"{"kind":"customEventLogged","name":"e","properties":{"at":{"$time":"2026-01-31T00:00:00.000Z"},"n":2,"#
                + #""o":{"inc":1},"r":2.0}}"#,
            #"{"attribute":"first_name","kind":"userAttributesChanged","value":"Jane é"}"#,
            #"{"attribute":"dob","kind":"userAttributesChanged","value":"1990-12-31"}"#,
            #"{"attribute":"email_open_tracking_disabled","kind":"userAttributesChanged","value":true}"#,
            #"{"attribute":"current_location","kind":"userAttributesChanged","value":"#
                + #"{"latitude":52,"longitude":13.5}}"#,
            #"{"attribute":"marked_email_as_spam_at","kind":"userAttributesChanged","value":"#
                + #"{"$time":"2026-01-31T10:00:00.000+01:00"}}"#,
            #"{"attribute":"first_name","kind":"userAttributesChanged","value":null}"#,
            #"{"currency":"EUR","kind":"purchaseLogged","price":9.5,"product":"p","quantity":1}"#,
            #"{"currency":"JPY","kind":"purchaseLogged","price":-2.0,"product":"p","properties":{"a":[1.0],"#
                + #""t":{"$time":"2026-01-31T00:00:00.000Z"}},"quantity":3}"#,
        ]
        #expect(try Self.content(cli) == expected)
    }

    @Test("Every road refuses the same values", arguments: roads.map(\.name))
    func refused(road: String) throws {
        let (road, shared) = try (Self.road(road), CLI())
        try Self.withService(road, shared) { url in
            for row in Self.bad {
                let cli = try road.isService ? shared : CLI()
                #expect(try !road.send(cli, url, [row]), "\(row)")
            }
            // It was the values that the service refused.
            if road.isService { #expect(try road.send(shared, url, [Self.good[0]])) }
        }
    }

    @Test("The values of a property list are those of the same JSON")
    func propertyList() throws {
        let cli = try CLI()
        let xml = """
            <?xml version="1.0" encoding="UTF-8"?><plist version="1.0"><dict><key>pending_custom_attributes</key><array>
            <dict><key>a</key><integer>1</integer><key>b</key><real>1</real><key>born</key>
            <date>2000-01-01T00:00:00Z</date><key>o</key><dict><key>inc</key><integer>1</integer></dict></dict>
            </array></dict></plist>
            """
        try cli.succeed("import", "--user-defaults", try cli.write(xml, as: "group.a.plist"))
        let json = #"{"a":1,"b":1.0,"born":{"$time":"2000-01-01T00:00:00.000Z"},"o":{"$set":{"inc":1}}}"#
        let (members, other) = (try Self.members(json), try CLI())
        try other.run(["save", "attribute", "u"] + members.map { "\($0.key.text)=\(Self.text($0.value))" })
        let expected = #"{"attributes":\#(json),"kind":"customAttributesSaved"}"#
        #expect(try Self.content(cli) == [expected])
        #expect(try Self.content(other) == [expected])
    }
}
