/// The cases of an enumeration by their names. A description is looked up in the metadata of the type each time, and
/// each row of a history or an export asks for some.
struct CaseNames<Case: CaseIterable & Hashable & Sendable>: Sendable {
    private let names: [Case: String]
    private let cases: [String: Case]

    init() {
        let all = Case.allCases.map { ($0, "\($0)") }
        names = Dictionary(uniqueKeysWithValues: all)
        cases = Dictionary(uniqueKeysWithValues: all.map { ($1, $0) })
    }

    subscript(_ wanted: Case) -> String { names[wanted] ?? "" }

    /// The case with this name.
    subscript(named name: String) -> Case? { cases[name] }
}
