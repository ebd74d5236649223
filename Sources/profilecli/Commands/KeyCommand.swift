internal import ArgumentParser
internal import ProfileLog

struct KeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "key", "Show what your key may do, and on which store.",
        "The key is the one in PROFILELOG_KEY; `profiled keys` makes keys.",
        examples: """
            profilecli key --url http://127.0.0.1:8080
            profilecli key --store shop
            """)

    @OptionGroup var place: PlaceOptions

    func run() async throws {
        try await place.show("/v1/key") { answer in
            let key = answer.object("key")
            var table = Table("WHAT", "VALUE!")
            if answer["key"] != .null {
                table.add("key", key["name"].cell)
                table.add("may do", key["permissions"].elements.map(\.cell).joined(separator: ", "))
            }
            table.add("store", answer["store"].cell)
            table.add("mode", answer["mode"].cell)
            table.add("writable", answer.flag("writable") ? "yes" : "no")
            let clock = answer.object("clock")
            if answer["clock"] != .null { table.add("clock", clock["now"].cell) }
            return table.lines()
        }
    }
}
