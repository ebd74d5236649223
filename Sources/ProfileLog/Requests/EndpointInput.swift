/// A parameter of an endpoint's query, or a member of its body.
package struct EndpointInput: Hashable, Sendable {
    /// What it holds, in the words of JSON Schema.
    package enum Kind: String, Sendable {
        case string, integer, number, boolean, object, array
        /// Any JSON value.
        case any
    }

    /// Its name.
    package let name: String
    /// What it holds.
    package let kind: Kind
    /// Whether there must be one.
    package let isRequired: Bool
    /// The least and the largest value of a whole number; nil if it has other limits, or none.
    package let limits: ClosedRange<UInt64>?
    /// The whole number that counts without one.
    package let standard: UInt64?

    /// Makes one.
    package init(
        _ name: String, _ kind: Kind = .string, isRequired: Bool = false, limits: ClosedRange<UInt64>? = nil,
        standard: UInt64? = nil
    ) {
        self.name = name
        self.kind = kind
        self.isRequired = isRequired
        self.limits = limits
        self.standard = standard
    }

    /// One that must be there.
    package static func required(_ name: String, _ kind: Kind = .string) -> EndpointInput {
        EndpointInput(name, kind, isRequired: true)
    }
}
