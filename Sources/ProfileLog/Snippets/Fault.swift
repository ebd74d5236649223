/// A fault of the published snippets that changes data, under its number in spec/device.md 6.2.
///
/// The other numbers cannot be switched on: `whyNotSimulated` has the reasons.
package enum Fault: Int, Sendable, CaseIterable, OrderedByNumber {
    case eventSavedAsAttributes = 1
    case nameReplacedByProperty = 2
    case nameIsNoString = 3
    case noTimeStored = 6
    case noUserStored = 7
    case noOrderAcrossLists = 9
    case onlySetIsPossible = 11
    case onlyEmailExists = 12
    case emptyEmailUndecodable = 13
    case updateBreaksDecoding = 14
    case languagesEncodeDifferently = 15
    case archivingFails = 16
    case numbersChangeType = 18
    case collectionsVanish = 19
    case arraySetterUnused = 20
    case nullCrashesSave = 21
    case savesOverwriteEachOther = 22
    case removalTakesMoreThanRead = 23
    case crashBeforeRemoval = 24
    case crashBeforePersistence = 25
    case instanceMissing = 26
    case refusalIgnored = 27
    case storedTypeMismatch = 28
    case returnDoesNotFlush = 29
    case noSessionInBackground = 30
    case flushedTwice = 31
    case resetTakesEverything = 33
    case storageArgumentForgotten = 34
    case appGroupMissing = 36
    case readBeforeUnlock = 37

    /// The number in spec/device.md 6.2.
    package var number: Int { rawValue }

    /// Faults that the newest Swift snippets always have.
    static let ofNewestSwift: Set<Fault> = [
        .nameReplacedByProperty, .nameIsNoString, .noTimeStored, .noUserStored, .noOrderAcrossLists, .onlySetIsPossible,
        .onlyEmailExists, .emptyEmailUndecodable, .numbersChangeType, .collectionsVanish, .nullCrashesSave,
        .refusalIgnored, .returnDoesNotFlush, .resetTakesEverything,
    ]

    /// Faults that the newest snippets add where a process is written in Objective-C.
    static let ofNewestObjectiveC: Set<Fault> = [
        .eventSavedAsAttributes, .languagesEncodeDifferently, .archivingFails, .arraySetterUnused,
    ]

    /// The fault in a few words.
    package var title: String {
        switch self {
        case .eventSavedAsAttributes: "Objective-C saves events under the attributes' key"
        case .nameReplacedByProperty: "a property event_name replaces the event's name"
        case .nameIsNoString: "a property event_name that is no text drops the event"
        case .noTimeStored: "no time is stored"
        case .noUserStored: "no user is stored"
        case .noOrderAcrossLists: "no order is kept across the three lists"
        case .onlySetIsPossible: "attributes can only be set"
        case .onlyEmailExists: "of the user attributes only the e-mail exists"
        case .emptyEmailUndecodable: "an e-mail that is unset, or reads $null, cannot be decoded"
        case .updateBreaksDecoding: "what another version of the app saved cannot be decoded"
        case .languagesEncodeDifferently: "Swift and Objective-C encode user attributes differently"
        case .archivingFails: "Objective-C cannot archive a user attribute"
        case .numbersChangeType: "numbers become booleans and doubles"
        case .collectionsVanish: "objects, nulls and arrays of anything but text have no setter"
        case .arraySetterUnused: "Objective-C never uses the array setter"
        case .nullCrashesSave: "a null makes the save crash"
        case .savesOverwriteEachOther: "two processes overwrite each other's saves"
        case .removalTakesMoreThanRead: "the flush removes what was saved while it ran"
        case .crashBeforeRemoval: "a crash before the removal logs items again"
        case .crashBeforePersistence: "a crash after the removal loses what the SDK had not stored"
        case .instanceMissing: "the SDK's instance is missing during the flush"
        case .refusalIgnored: "what the SDK refuses is cleared all the same"
        case .storedTypeMismatch: "a list of another stored type is kept, then overwritten"
        case .returnDoesNotFlush: "a return to the foreground does not flush"
        case .noSessionInBackground: "older SDKs drop events that are logged without a session"
        case .flushedTwice: "two scenes flush the same list"
        case .resetTakesEverything: "a reset removes everything that waits"
        case .storageArgumentForgotten: "the default storage is one that the app does not read"
        case .appGroupMissing: "the app group is missing in one target"
        case .readBeforeUnlock: "preferences cannot be read before the first unlock"
        }
    }

    /// The numbers of spec/device.md 6.2.
    package static let numbers = 1...47

    /// Returns the reason why the fault with this number cannot be switched on; nil if it can, or if there is none.
    package static func whyNotSimulated(_ number: Int) -> String? {
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
