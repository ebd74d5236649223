extension Fault {
    /// The numbers of spec/device.md 6.2.
    public static let numbers = 1...47

    /// Why the oddity with this number cannot be switched on; nil if it can, or if there is none.
    public static func whyNotSimulated(_ number: Int) -> String? {
        switch number {
        case 4: "every saved event of a log has a name, so an entry without one does not occur"
        case 5: "the flat layout harms nothing by itself: it is what makes faults 2 and 3 possible"
        case 8: "a missing ID harms nothing by itself: it is why faults 24 and 31 go unnoticed"
        case 10: "one item's attributes have different keys, so their order changes no profile"
        case 17: "the placeholder does not compile, so no item comes from it"
        case 32: "the missing limit costs time and space, and changes no item"
        case 35: "a log accepts no app group whose name would trap"
        case 38: "the missing receipt changes no item: this comparison is the receipt"
        case 39: "the Objective-C getter calls itself for ever, so no item comes from it"
        case 40: "the Objective-C helper does not compile, so no item comes from it"
        case 41: "the call has another label in the SDK and does not compile; it is played as if corrected"
        case 42: "the misspelled selector does not compile; it is played as if corrected"
        case 43: "a push that crashes the extension saves nothing, so the log has no item of it"
        case 44: "the missing completion call changes no item"
        case 45: "a wrong key in the property list keeps the extension from being touched: it saves nothing"
        case 46: "it concerns the guide's text, and no item"
        case 47: "what the demo saves twice is in the log twice already"
        default: nil
        }
    }
}
