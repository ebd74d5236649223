import ProfileLog
import ProfileLogRequests
import TestSupport
import Testing

/// Debug builds compare every success with the form that its endpoint declares, so each test of an endpoint tests its
/// description. Here is what that comparison finds.
@Suite("The form of an answer")
struct AnswerShapeTests {
    private static let shape: AnswerShape = [
        "position": .integer, "user": .orNull(.named("Who", ["id": .text])), "note?": .text,
        "rows": [[.text, .integer]],
        "sums": .map(.number), "value": .any,
    ]

    private static func difference(_ json: String) throws -> String? {
        shape.difference(in: try JSON.parse(Array(json.utf8)))
    }

    @Test("An answer of the declared form has no difference")
    func equal() throws {
        #expect(
            try Self.difference(
                #"{"position":1,"user":null,"rows":[["a",1],[]],"sums":{"EUR":1.5,"USD":2},"value":[{}]}"#)
                == nil)
        #expect(
            try Self.difference(#"{"position":1,"user":{"id":"a"},"note":"n","rows":[],"sums":{},"value":null}"#) == nil
        )
    }

    @Test(
        "What differs is named by its place",
        arguments: [
            (#"{"user":null,"rows":[],"sums":{},"value":1}"#, "position (missing)"),
            (#"{"position":1.5,"user":null,"rows":[],"sums":{},"value":1}"#, "position (another type)"),
            (#"{"position":1,"user":{},"rows":[],"sums":{},"value":1}"#, "user.id (missing)"),
            (#"{"position":1,"user":null,"note":null,"rows":[],"sums":{},"value":1}"#, "note (another type)"),
            (#"{"position":1,"user":null,"rows":[["a"],[true]],"sums":{},"value":1}"#, "rows[1][0] (another type)"),
            (#"{"position":1,"user":null,"rows":[],"sums":{"EUR":"1"},"value":1}"#, "sums.* (another type)"),
            (#"{"position":1,"user":null,"rows":[],"sums":{},"value":1,"more":1}"#, "more (not declared)"),
        ])
    func different(json: String, difference: String) throws {
        #expect(try Self.difference(json) == difference)
    }

    @Test("Of two members of one name the later one counts")
    func replaced() {
        let shape: AnswerShape = ["a?": .text, "b": .text] + ["a": .integer]
        #expect(shape.members.map { "\($0.name) \($0.isRequired)" } == ["b true", "a true"])
    }

    @Test("Every endpoint that answers in JSON declares the form of its answer")
    func declared() {
        for endpoint in API.table.endpoints where endpoint.mediaTypes.contains("application/json") {
            #expect(!endpoint.answer.members.isEmpty || endpoint.answer.isChoice, "\(endpoint.path)")
        }
    }
}

extension AnswerShape {
    fileprivate var isChoice: Bool { if case .either = self { true } else { false } }
}
