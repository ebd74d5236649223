/// The version a user must be at for an append to be accepted.
public enum ExpectedVersion: Hashable, Sendable {
    /// Any version.
    case any
    /// The user must be unknown.
    case noUser
    /// The user must have exactly this many events.
    case exactly(Version)

    /// Tells whether a user at `actual` satisfies this.
    package func accepts(_ actual: Version) -> Bool {
        switch self {
        case .any: true
        case .noUser: actual == .none
        case .exactly(let version): actual == version
        }
    }
}
