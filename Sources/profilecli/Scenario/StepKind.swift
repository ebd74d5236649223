internal import ProfileLog
internal import ProfileLogNativeAPI

/// A kind of step: what a scenario file may say, and the request that it becomes.
///
/// A new step is a new entry of `StepKind.all`: reader, player, schema and the check of the docs follow it.
struct StepKind: Sendable {
    /// The action of the player.
    enum Action: Sendable {
        /// Moves the clock.
        case wait
        /// Sends the fields as the body of a POST. `{device}` in the path is the field `device`.
        case post(String)
        /// Sends the fields as the query of a GET, and compares the answer, seen through `view`, with the expected
        /// ones.
        case expect(String, view: @Sendable (JSONObject) -> JSONObject)
        /// Sends any request: the fields are its parts.
        case request
    }

    let name: String
    /// The meaning, in one sentence.
    let meaning: String
    let action: Action
    let fields: [StepField]
    /// The field that a step means whose value is no mapping, as in `launch: background`.
    let short: String?
    /// The step as a file says it; docs/scenarios.md has it in a scenario.
    let example: String

    init(
        name: String, meaning: String, action: Action, fields: [StepField], more: [StepField] = [],
        short: String? = nil, example: String
    ) {
        (self.name, self.meaning, self.action, self.fields) = (name, meaning, action, fields + more)
        (self.short, self.example) = (short, example)
    }

    /// Tells whether the step's name alone is a step.
    var standsAlone: Bool { !fields.contains(where: \.isRequired) }

    /// All fields: the kind's own, and those of every step that is a request.
    var allFields: [StepField] {
        switch action {
        case .wait: fields
        case .post: fields + [Self.answer, Self.refused]
        case .expect: fields + [Self.refused]
        case .request: fields + [Self.answer]
        }
    }

    static let answer = StepField.own("answer", .any, "What a part of the answer must be.")
    static let refused = StepField.own("refused", .text, "The step must be refused with this code of docs/api.md.")

    func field(_ name: String) -> StepField? { allFields.first { $0.name == name } }

    static func named(_ name: String) -> StepKind? { byName[name] }
    private static let byName = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })
}
