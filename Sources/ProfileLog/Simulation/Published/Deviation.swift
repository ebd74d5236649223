/// One way in which an item fared differently, and the fault that caused it.
public struct Deviation: Hashable, Comparable, Sendable {
    /// The cause.
    public var fault: Fault
    /// What it did.
    public var effect: FaultEffect

    /// `fault` did `effect`.
    public init(_ fault: Fault, _ effect: FaultEffect) {
        self.fault = fault
        self.effect = effect
    }

    /// By fault, then effect.
    public static func < (left: Deviation, right: Deviation) -> Bool {
        (left.fault, left.effect) < (right.fault, right.effect)
    }

    /// The deviation in one sentence without values.
    public var sentence: String {
        let what =
            switch effect {
            case .lost: "It never reached the SDK"
            case .partlyLost: "Some of its attributes never reached the SDK"
            case .doubled: "It reached the SDK more than once"
            case .wrongUser: "It went to the user of the flush and not of the save"
            case .misdated: "It got the time of the flush and not of the save"
            case .mistyped: "A value changed its type"
            case .renamed: "It was logged under another name"
            case .becameAttributes: "Its name and properties became custom attributes"
            case .truncated: "A key or a text was cut"
            case .reordered: "It overtook an item that was saved before it"
            case .delayed: "A launch passed without flushing it"
            case .kept: "It lies where no launch finds it"
            }
        return "\(what): \(fault.title)."
    }
}
