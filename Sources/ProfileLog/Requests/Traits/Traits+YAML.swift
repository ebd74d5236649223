internal import ProfileLogGuide

extension YAMLNode {
    /// The list of computed traits here (docs/traits.md): an error has the line and the column of the wrong field.
    package func computedTraits() throws(YAMLFileError) -> [ComputedTrait] {
        let list = try json()
        do throws(TraitError) {
            return try ComputedTrait.list(list)
        } catch {
            throw refusal(at: error.place, error.reason, remedy: error.remedy)
        }
    }
}
