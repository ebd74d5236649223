/// What a cast makes of a number that comes out of a property list (spec/device.md 6.2, 18).
public enum PlistNumbers: String, Sendable, CaseIterable {
    /// As Foundation casts its number objects: 0 and 1 are booleans, and whatever a double holds exactly is one.
    case bridged
    /// Each number is of its own type only.
    case exact
}
