internal import ProfileLogSnippets

/// A file of documents (docs/workspace.md): an error has the line and the column of the wrong field.
extension YAMLNode {
    /// Runs `read` on this node, whose place is `top` for it.
    private func reading<Result>(
        below top: String = "", _ read: () throws(DocumentError) -> Result
    ) throws(YAMLFileError) -> Result {
        do throws(DocumentError) {
            return try read()
        } catch {
            let place = String(error.place.dropFirst(top.count).drop { $0 == "." })
            throw refusal(at: place, error.reason, remedy: error.remedy)
        }
    }

    /// The rules here: a mapping with `parts` and nothing else.
    package func foldRules(_ parts: [FoldRules.Part]) throws(YAMLFileError) -> FoldRules {
        _ = try members()
        let document = try json()
        return try reading { () throws(DocumentError) in try FoldRules(document, parts: parts) }
    }

    /// The policies here: names of attributes with the words of their policies.
    package func attributePolicies() throws(YAMLFileError) -> FoldRules {
        _ = try members()
        let (key, document) = (FoldRules.Part.policies.rawValue, try json())
        return try reading(below: key) { () throws(DocumentError) in
            try FoldRules(.object([.init(Name(key), document)]), parts: [.policies])
        }
    }

    /// The list of computed traits here (docs/traits.md).
    package func computedTraits() throws(YAMLFileError) -> [ComputedTrait] {
        let list = try json()
        return try reading { () throws(DocumentError) in try ComputedTrait.list(list) }
    }

    /// The list of definitions of in-app messages here, as it is declared (docs/in-app-messages.md).
    package func inAppMessages() throws(YAMLFileError) -> AttributeValue {
        let definitions = try json()
        _ = try reading(below: "messages") { () throws(DocumentError) in
            try InAppMessage.list(definitions, at: "messages")
        }
        return definitions
    }

    /// The settings of in-app messages here, as a request has them.
    package func inAppSettings() throws(YAMLFileError) -> AttributeValue {
        _ = try members()
        guard case .object(let members) = try json() else { return .null }
        _ = try reading { () throws(DocumentError) in try InAppSettingsChange(members) }
        return .object(members)
    }
}
