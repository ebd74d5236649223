/// A version of the Braze Swift SDK, or of AppboyKit before it.
public struct SDKVersion: Hashable, Comparable, Sendable {
    /// The first number.
    public var major: Int
    /// The second number.
    public var minor: Int
    /// The third number.
    public var patch: Int

    /// Makes the version `major.minor.patch`.
    public init(_ major: Int, _ minor: Int, _ patch: Int) {
        self.major = major
        self.minor = minor
        self.patch = patch
    }

    /// Reads `18`, `18.0` or `18.0.0`; nil for all else.
    public init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        let numbers = parts.compactMap { UInt16($0) }.map(Int.init)
        guard (1...3).contains(numbers.count), numbers.count == parts.count else { return nil }
        self.init(numbers[0], numbers.count > 1 ? numbers[1] : 0, numbers.count > 2 ? numbers[2] : 0)
    }

    /// The older first.
    public static func < (left: SDKVersion, right: SDKVersion) -> Bool {
        (left.major, left.minor, left.patch) < (right.major, right.minor, right.patch)
    }

    /// The last version whose events logged without a session could be dropped (spec/device.md 4).
    public static let last18_0 = SDKVersion(18, 0, 0)

    var dropsEventsWithoutSession: Bool { self < SDKVersion(18, 1, 0) }
    var countsCharacters: Bool { self >= SDKVersion(11, 1, 1) }
    /// AppboyKit refused events whose dictionary of properties was empty; the Swift SDK begins with version 5.
    var refusesEmptyProperties: Bool { self < SDKVersion(5, 0, 0) }
}

extension SDKVersion: CustomStringConvertible {
    /// As in `18.0.0`.
    public var description: String { "\(major).\(minor).\(patch)" }
}
