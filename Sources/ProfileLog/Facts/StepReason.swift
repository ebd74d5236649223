/// Sentences for `MessageStep.reason`, in which each `…` is replaced by what the case says of it.
package protocol StepReason: RawRepresentable, CaseIterable where RawValue == String {}

extension StepReason {
    /// The sentence with these parts.
    package func reason(_ parts: String...) -> String {
        let pieces = rawValue.split(separator: "…", omittingEmptySubsequences: false)
        return zip(pieces, parts + [""]).map { $0 + $1 }.joined()
    }
}
