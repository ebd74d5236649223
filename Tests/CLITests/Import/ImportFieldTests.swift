import Testing

@Suite("A field that an import does not know")
struct ImportFieldTests {
    @Test(
        "An unknown field of an import is refused by its name, never skipped",
        arguments: [
            (#"{"kind":"custom_event","user":"u","name":"x","propertys":{"a":"secret"}}"#, "propertys"),
            (#"{"kind":"custom_event","user":"u","name":"x","Time":"2026-01-01T00:00:00Z"}"#, "Time"),
            (#"{"kind":"custom_attribute","user":"u","attributes":{"a":"secret"},"merge":true}"#, "merge"),
            (#"{"kind":"user_attribute","user":"u","attribute":"email","value":"secret","at":1}"#, "at"),
            (
                #"{"kind":"purchase","user":"u","product_id":"p","currency":"EUR","price":1,"product":"secret"}"#,
                "product"
            ),
        ])
    func refused(line: String, field: String) throws {
        let cli = try CLI()
        let good = #"{"kind":"custom_event","user":"u","name":"good"}"#
        let refused = try cli.run("import", "-", input: "\(good)\n\(line)\n")
        #expect(refused.status == 1)
        #expect(refused.errors.contains("Line 2 of standard input cannot be imported"), "\(refused.errors)")
        #expect(refused.errors.contains("\"\(field)\" is no field of such a line"), "\(refused.errors)")
        #expect(!refused.errors.contains("secret"))
        // Neither is the line before it, which is of the same chunk.
        #expect(!(try cli.run("profile", "u").output.contains("good")))
    }
}
