internal import ProfileLogGuide

/// Fold rules in a file (docs/workspace.md): an error has the line and the column of the wrong field.
extension YAMLNode {
    /// The rules here: a mapping with `parts` and nothing else.
    package func foldRules(_ parts: [FoldRules.Part]) throws(YAMLFileError) -> FoldRules {
        _ = try members()
        let document = try json()
        do throws(FoldRules.Fault) {
            return try FoldRules(document, parts: parts)
        } catch {
            throw refusal(at: error.place, error.reason, remedy: error.remedy)
        }
    }

    /// The policies here: names of attributes with the words of their policies.
    package func attributePolicies() throws(YAMLFileError) -> FoldRules {
        _ = try members()
        let (key, document) = (FoldRules.Part.policies.rawValue, try json())
        do throws(FoldRules.Fault) {
            return try FoldRules(.object([.init(Name(key), document)]), parts: [.policies])
        } catch {
            throw refusal(
                at: String(error.place.dropFirst(key.count).drop { $0 == "." }), error.reason, remedy: error.remedy)
        }
    }
}
