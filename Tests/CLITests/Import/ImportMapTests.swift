import Foundation
import Testing

@Suite("Import with a map")
struct ImportMapTests {
    private let cli: CLI

    init() throws { cli = try CLI() }

    /// Imports a file by a map, with the answer as JSON.
    @discardableResult
    private func imported(_ text: String, as name: String, by map: String, _ more: String...) throws -> CLI.Outcome {
        let (file, map) = (try cli.write(text, as: name), try cli.write(map, as: "map.yaml"))
        return try cli.run(["import", file, "--map", map, "--format", "json"] + more)
    }

    /// The map that is suggested for a file.
    private func suggested(_ text: String, as name: String, _ more: String...) throws -> String {
        let outcome = try cli.run(["import", "--suggest", try cli.write(text, as: name)] + more)
        #expect(outcome.status == 0, "\(outcome.errors)")
        return outcome.output
    }

    /// The events that are stored, without those of new users.
    private func exported() throws -> [String] {
        try cli.succeed("export").lines.filter { !$0.contains("userCreated") }
    }

    private static let shop = """
        event_time,event_type,product_id,category_code,brand,price,user_id,user_session
        2019-10-01 00:00:00 UTC,view,44600062,,shiseido,35.79,541312140,72d76fde
        2019-10-01 00:00:01 UTC,cart,3900821,appliances.environment.water_heater,aqua,33.20,554748717,9333dfbd
        2019-10-01 00:00:04 UTC,purchase,3900821,appliances.environment.water_heater,aqua,33.20,554748717,9333dfbd

        """

    @Test("Events of a shop come in by the suggested map")
    func shop() throws {
        let map = try suggested(Self.shop, as: "shop.csv")
        #expect(map.contains("user: user_id\n") && map.contains("time: event_time\n"), "\(map)")
        let outcome = try imported(Self.shop, as: "shop.csv", by: map)
        #expect(outcome.output.contains(#""imported":3"#), "\(outcome.errors)")
        let events = try exported()
        #expect(events.count == 3)
        #expect(events[0].contains(#""name":"view""#) && events[0].contains(#""brand":"shiseido""#), "\(events[0])")
        #expect(events[0].contains(#""occurred_at":"2019-10-01T00:00:00"#), "\(events[0])")
        #expect(!events[0].contains("category_code"), "an empty field is no value")
        #expect(events[2].contains(#""kind":"purchaseLogged""#) && events[2].contains(#""product":"3900821""#))
        #expect(try imported(Self.shop, as: "shop.csv", by: map).output.contains(#""imported":0,"skipped":3"#))
    }

    private static let orders =
        #"""
        InvoiceNo;StockCode;Description;Quantity;InvoiceDate;UnitPrice;CustomerID;Country
        536365;85123A;"HEART; ""WHITE""";6;01/12/2010 08:26;2,55;17850;United Kingdom
        536365;71053;"LANTERN
        white";6;01/12/2010 08:26;1.003,39;17850;United Kingdom
        536366;22633;WARMER;1;31/12/2010 09:00;4,25;;France

        """#

    @Test("Orders with decimal commas, days first, quotes, and a customer that is missing")
    func orders() throws {
        let map = try suggested(Self.orders, as: "orders.csv")
        #expect(map.contains(#"format: "dd/mm/yyyy hh:mm""#) && map.contains(#"decimal: ",""#), "\(map)")
        let skipped = cli.folder.appending(path: "skipped.jsonl").path
        let outcome = try imported(Self.orders, as: "orders.csv", by: map, "--skip-invalid", skipped)
        #expect(outcome.output.contains(#""imported":2"#) && outcome.output.contains(#""invalid":1"#), "\(outcome)")
        #expect(outcome.status == 1)
        let events = try exported()
        #expect(events[0].contains(#""price":2.55"#) && events[0].contains(#""occurred_at":"2010-12-01T08:26:00"#))
        #expect(events[0].contains(#""Description":"HEART; \"WHITE\"""#), "\(events[0])")
        #expect(events[1].contains(#""price":1003.39"#) && events[1].contains(#"LANTERN\nwhite"#), "\(events[1])")
        let told = try String(contentsOfFile: skipped, encoding: .utf8)
        #expect(told.hasPrefix(#"{"line":5,"reason":"it has no user: `CustomerID` is empty""#), "\(told)")
    }

    @Test("A stray quote costs its line alone, whether another one follows or not")
    func strayQuotes() throws {
        let table =
            "user\tevent\tnote\na\te1\tx\nb\te2\t\"open\nc\te3\ty\nd\te4\t\"ok \"\"q\"\" z\"\n"
            + "e\te5\t\"two\nlines\"\nf\te6\t\"stray\ng\te7\tz\n"
        let map = "user: user\nevent: event\nproperties: \"*\""
        let stopped = try imported(table, as: "t.tsv", by: map)
        #expect(stopped.status == 1 && stopped.errors.contains("Line 3 of"), "\(stopped.errors)")
        #expect(stopped.errors.contains("a quote that opens in it is not closed"), "\(stopped.errors)")
        let outcome = try imported(table, as: "t.tsv", by: map, "--skip-invalid", "skipped.jsonl")
        #expect(outcome.output.contains(#""imported":5"#) && outcome.output.contains(#""invalid":2"#), "\(outcome)")
        let names = try exported().compactMap { $0.firstMatch(of: #/"name":"([^"]+)/#).map { String($0.1) } }
        #expect(names == ["e1", "e3", "e4", "e5", "e7"])
        let told = try cli.shell("cat skipped.jsonl").lines
        #expect(told.map { $0.prefix(10) } == [#"{"line":3,"#, #"{"line":8,"#], "\(told)")
    }

    @Test("Days that fit two orders have to be chosen")
    func ambiguous() throws {
        let table = "user_id,date,action\nu,02/01/2026,a\n"
        let map = try suggested(table, as: "t.csv")
        #expect(map.contains("format: CHOOSE"), "\(map)")
        let refused = try imported(table, as: "t.csv", by: map)
        #expect(refused.status != 0 && refused.errors.contains("Write dd/mm/yyyy if the day comes first"))
        let chosen = map.replacing("CHOOSE", with: "dd/mm/yyyy")
        #expect(try imported(table, as: "t.csv", by: chosen).output.contains(#""imported":1"#))
        #expect(try exported()[0].contains("2026-01-02T00:00:00"))
    }

    @Test("Pieces that come back are a purchase at a negative price, and many pieces are several purchases")
    func pieces() throws {
        let map = "user: u\npurchase: {product: p, price: price, quantity: n, currency: {value: GBP}}"
        let table = "u,p,price,n\na,x,2.55,6\na,x,2.55,-6\na,y,0.10,4805\na,z,1,6.0\na,z,1,0\na,z,1,100001\n"
        let skipped = cli.folder.appending(path: "skipped.jsonl").path
        let outcome = try imported(table, as: "t.csv", by: map, "--skip-invalid", skipped)
        #expect(outcome.output.contains(#""imported":52"#) && outcome.output.contains(#""invalid":2"#), "\(outcome)")
        let profile = try cli.succeed("profile", "a", "--format", "json").output
        #expect(profile.contains(#""total_revenue":486.5"#) || profile.contains(#""GBP":486.5"#), "\(profile)")
        #expect(try exported()[1].contains(#""price":-2.55"#))
        #expect(try String(contentsOfFile: skipped, encoding: .utf8).contains("beyond 100000"))
    }

    @Test("Signs of currencies and grouped digits are read where they are clear")
    func amounts() throws {
        let map = "user: u\npurchase: {product: p, price: price, currency: {value: USD}}"
        let table =
            "u,p,price\na,x,$5.00\na,x,\"1,234.50\"\na,x,€ 1\na,x,\"1,234\"\na,x,\"1.234,50\"\na,x,1'000.5\n"
        let skipped = cli.folder.appending(path: "skipped.jsonl").path
        let outcome = try imported(table, as: "t.csv", by: map, "--skip-invalid", skipped)
        #expect(outcome.output.contains(#""imported":4"#), "\(outcome)")
        let prices = try exported().map { $0.firstMatch(of: #/"price":([^,]+)/#).map { String($0.1) } }
        #expect(prices == ["5.0", "1234.5", "1.0", "1000.5"], "\(prices)")
        let told = try String(contentsOfFile: skipped, encoding: .utf8)
        #expect(told.contains("`decimal` of the map can say"), "\(told)")
        let clear = map.replacing("price: price", with: #"price: {column: price, decimal: "."}"#)
        let grouped = try imported("u,p,price\nb,x,\"1,234\"\n", as: "u.csv", by: clear)
        #expect(grouped.output.contains(#""imported":1"#), "\(grouped)")
        #expect(try exported().last?.contains(#""price":1234"#) == true)
    }

    @Test(
        "Times that are clear get their pattern",
        arguments: [
            ("2026/01/02 08:26:00", "yyyy/mm/dd hh:mm:ss"), ("2-Jan-26", "dd-mmm-yy"),
            (#""January 2, 2026""#, "mmm dd, yyyy"), ("2 Jan 2026 08:26", "dd mmm yyyy hh:mm"),
            ("2026-01-02 08:26:00 +0100", nil), ("2026-01-02", nil),
        ])
    func clearTimes(time: String, pattern: String?) throws {
        let table = "user_id,time,event\nu,\(time),a\n"
        let map = try suggested(table, as: "t.csv")
        if let pattern {
            #expect(map.contains(#"format: "\#(pattern)""#), "\(map)")
        } else {
            #expect(map.contains("time: time\n"), "\(map)")
        }
        #expect(try imported(table, as: "t.csv", by: map).output.contains(#""imported":1"#))
        #expect(try exported()[0].contains(#""occurred_at":"2026-01-02"#))
    }

    @Test("The column of the recording counts with --recorded alone")
    func recorded() throws {
        let (map, table) = ("user: u\nevent: e\nrecorded_at: r\n", "u,e,r\na,b,2024-01-02T00:00:00Z\n")
        #expect(try imported(table, as: "t.csv", by: map).output.contains(#""imported":1"#))
        #expect(try !exported()[0].contains(#""recorded_at":"2024"#))
        let store = cli.folder.appending(path: "past").path
        let past = try imported(table, as: "t.csv", by: map, "--recorded", "--store", store)
        #expect(past.output.contains(#""imported":1"#), "\(past)")
        #expect(try cli.succeed("export", "--store", store).output.contains(#""recorded_at":"2024-01-02T00:00:00"#))
    }

    @Test("Tables as programs write them: numbered rows without a name, a delimiter at the end of each row")
    func written() throws {
        let map = "user: user_id\nevent: event\nproperties: \"*\"\n"
        let table = ",user_id,event,x\n0,a,b,\n1,a,c,5,\n"
        let told = "sep=|\r\nuser_id|event|x\r\na|b,c;d|7\r\n"
        #expect(try suggested(told, as: "u.csv").contains("user: user_id\n"))
        #expect(try imported(told, as: "u.csv", by: map, "--store", "told").output.contains(#""imported":1"#))
        let outcome = try imported(table, as: "t.csv", by: map)
        #expect(outcome.output.contains(#""imported":2"#), "\(outcome)")
        let events = try exported()
        #expect(!events[0].contains("properties") && events[1].contains(#""properties":{"x":5}"#), "\(events)")
    }

    @Test("What is no text in UTF-8, and an array of JSON, is refused with what converts it")
    func otherFiles() throws {
        let map = try cli.write("user: u\nevent: e\n", as: "map.yaml")
        func run(_ bytes: [UInt8]) throws -> CLI.Outcome {
            let file = cli.folder.appending(path: "t.csv")
            try Data(bytes).write(to: file)
            return try cli.run("import", file.path, "--map", map)
        }
        let latin = try run(Array("u,e\na,caf".utf8) + [0xE9, 0x0A])
        #expect(latin.status == 1 && latin.errors.contains("iconv"), "\(latin.errors)")
        #expect(try !cli.run("export").output.contains("customEventLogged"))
        let wide = try run([0xFF, 0xFE] + Array("u".utf8) + [0, 0x0A, 0])
        #expect(wide.status == 64 && wide.errors.contains("is text in UTF-16"), "\(wide.errors)")
        let array = try cli.write("[{\"u\":\"a\",\"e\":\"b\"}]\n", as: "t.json")
        for arguments in [["--suggest", array], [array, "--map", map], [array]] {
            let outcome = try cli.run(["import"] + arguments)
            #expect(outcome.status != 0 && outcome.errors.contains("jq -c '.[]'"), "\(outcome.errors)")
        }
    }

    @Test("Lines of trackers: events, traits of users, IDs; other types are counted")
    func trackers() throws {
        let lines = """
            {"type":"identify","userId":"u","traits":{"plan":"pro"},"messageId":"1","timestamp":"2026-01-01T00:00:00Z"}
            {"type":"track","userId":"u","event":"a","properties":{"n":1},"messageId":"2","timestamp":"2026-01-01"}
            {"type":"track","anonymousId":"x","event":"b","messageId":"3","timestamp":"2026-01-01T00:00:02Z"}
            {"type":"page","userId":"u","messageId":"4","timestamp":"2026-01-01T00:00:03Z"}
            {"type":"track","userId":"u","event":"a","properties":{"n":1},"messageId":"2","timestamp":"2026-01-01"}

            """
        let map = try suggested(lines, as: "t.jsonl")
        #expect(map.contains("id: messageId") && map.contains("user: [userId, anonymousId]"), "\(map)")
        let outcome = try imported(lines, as: "t.jsonl", by: map)
        #expect(outcome.output.contains(#""imported":3,"skipped":1"#), "\(outcome)")
        #expect(outcome.output.contains(#""different":0,"unmatched":1"#), "\(outcome)")
        #expect(try cli.succeed("profile", "u", "--format", "json").output.contains(#""plan":"pro""#))
    }

    @Test("Seconds since 1970 and members of an object")
    func epoch() throws {
        let lines = """
            {"event":"Sign up","properties":{"time":1767225600,"distinct_id":"u1","$insert_id":"i1","plan":"pro"}}

            """
        let map = try suggested(lines, as: "t.jsonl")
        #expect(map.contains("format: epoch") && map.contains("user: properties.distinct_id"), "\(map)")
        let outcome = try imported(lines, as: "t.jsonl", by: map)
        #expect(outcome.output.contains(#""imported":1"#), "\(outcome.errors)")
        let event = try #require(try exported().first)
        #expect(event.contains(#""properties":{"plan":"pro"}"#) && event.contains("2026-01-01T00:00:00"), "\(event)")
    }

    @Test("A local time gets the zone of the map, also across a change of the clocks")
    func zone() throws {
        let map = """
            user: u
            time: {column: t, format: "dd.mm.yyyy hh:mm", zone: Europe/Berlin}
            event: {value: e}
            """
        let table = "u,t\na,01.01.2026 00:30\na,01.07.2026 00:30\n"
        #expect(try imported(table, as: "t.csv", by: map).output.contains(#""imported":2"#))
        let events = try exported()
        #expect(events[0].contains("2026-01-01T00:30:00") && events[0].contains("+01:00"), "\(events[0])")
        #expect(events[1].contains("+02:00"), "\(events[1])")
    }

    @Test(
        "A map that does not fit is refused with what is wrong",
        arguments: [
            ("user: custmer\nevent: a", "has no column `custmer`", "Did you mean `customer`?"),
            ("user: customer", "says nothing about its rows", "Add event"),
            ("user: customer\nevnt: a", "evnt", "event"),
            ("user: customer\nevent: a\ntime: {column: a, format: dd.mm}", "is no format of times", "dd/mm/yyyy"),
            ("", "is empty", "--suggest"),
        ])
    func refused(map: String, message: String, remedy: String) throws {
        let outcome = try imported("customer,a\nu,b\n", as: "t.csv", by: map)
        #expect(outcome.status != 0 && outcome.output.isEmpty)
        #expect(outcome.errors.contains(message) && outcome.errors.contains(remedy), "\(outcome.errors)")
        #expect(!FileManager.default.fileExists(atPath: cli.store), "no store is made")
    }

    @Test("CSV without a map says how to get one; a short row is named")
    func needsMap() throws {
        let file = try cli.write("customer,a\nu,b\nu\n", as: "t.csv")
        let outcome = try cli.run("import", file)
        #expect(outcome.status == 64 && outcome.errors.contains("--suggest"), "\(outcome.errors)")
        let cut = try imported("customer,a\nu,b\nu\n", as: "t.csv", by: "user: customer\nevent: a")
        #expect(cut.status == 1 && cut.errors.contains("it has only 1 of 2 fields"), "\(cut.errors)")
    }
}
