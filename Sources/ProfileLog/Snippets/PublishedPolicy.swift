/// The faults of the published snippets that are switched on, and the conditions under which they run.
///
/// Without a fault it is `.standard`: every item that the app can see is delivered once, exact, to the user of its save
/// and with its time.
package struct PublishedPolicy: Hashable, Sendable {
    /// The faults that are switched on.
    package var faults: Set<Fault>
    /// Conditions that no history records.
    package var conditions: PublishedConditions

    /// Switches on `faults` under `conditions`.
    package init(_ faults: Set<Fault>, _ conditions: PublishedConditions = PublishedConditions()) {
        self.faults = faults
        self.conditions = conditions
    }

    /// No fault: what this project's store does.
    package static let standard = PublishedPolicy([])

    /// The guide's newest snippets: the faults that always show, in the languages that `conditions` state.
    package static func faithful(_ conditions: PublishedConditions = PublishedConditions()) -> PublishedPolicy {
        let isObjectiveC = conditions.language == .objectiveC || conditions.languages.values.contains(.objectiveC)
        return PublishedPolicy(Fault.ofNewestSwift.union(isObjectiveC ? Fault.ofNewestObjectiveC : []), conditions)
    }

    func has(_ fault: Fault) -> Bool { faults.contains(fault) }

    // MARK: - Languages

    /// The language of `process`: as stated, else that in which the faults that are switched on show, else Swift.
    package func language(of process: Name) -> SnippetLanguage {
        if let stated = conditions.languages[process] ?? conditions.language { return stated }
        let savesShow = (has(.eventSavedAsAttributes) || has(.archivingFails)) && !has(.emptyEmailUndecodable)
        if process != DeviceStorage.app { return savesShow ? .objectiveC : .swift }
        if has(.numbersChangeType) || has(.collectionsVanish) { return .swift }
        return has(.arraySetterUnused) || has(.languagesEncodeDifferently) && !savesShow ? .objectiveC : .swift
    }

    /// Returns the reason why `fault` cannot show in what these processes save: a clause about their languages and the
    /// app's; nil if it can.
    package func whyHidden(_ fault: Fault, of processes: Set<Name>) -> String? {
        let (savers, app) = (Set(processes.map(language)), language(of: DeviceStorage.app))
        func missing(_ language: SnippetLanguage) -> String? {
            savers.contains(language) ? nil : "no process that saved is in \(language.name)"
        }
        return switch fault {
        case .eventSavedAsAttributes, .archivingFails: missing(.objectiveC)
        case .emptyEmailUndecodable: missing(.swift)
        case .languagesEncodeDifferently: savers == [app] ? "all are in \(app.name)" : nil
        case .numbersChangeType, .collectionsVanish: app == .swift ? nil : "the app is in \(app.name)"
        case .arraySetterUnused: app == .objectiveC ? nil : "the app is in \(app.name)"
        default: nil
        }
    }

    // MARK: - Durations, in microseconds

    /// The duration of a save: 0 unless two saves can meet.
    var saveLasts: Int64 { has(.savesOverwriteEachOther) ? Self.microseconds(conditions.saveLasts) : 0 }

    /// The duration of the flush of one list: 0 unless a save can meet it.
    var flushLasts: Int64 {
        let canMeet = has(.savesOverwriteEachOther) || has(.removalTakesMoreThanRead)
        return canMeet ? Self.microseconds(conditions.flushLasts) : 0
    }

    private static func microseconds(_ duration: Duration) -> Int64 {
        Int64(max(0, min(duration / .microseconds(1), 0x1p62)))
    }
}

/// Conditions that no history records, and that decide the result of the published snippets. The number in brackets is
/// that of the fault that reads it.
package struct PublishedConditions: Hashable, Sendable {
    /// The language of every process that `languages` does not name; nil: that in which the faults show, else Swift.
    package var language: SnippetLanguage?
    /// The language of single processes, by their names; the app is `app`.
    package var languages: [Name: SnippetLanguage] = [:]
    /// The result of a cast of stored numbers (18).
    package var numbers = PlistNumbers.bridged

    /// The time from a save's reading of a list to its writing (22).
    package var saveLasts = Duration.milliseconds(10)
    /// The time from a flush's reading of a list to its removal (22, 23).
    package var flushLasts = Duration.milliseconds(100)
    /// The number n of flushes with items of which one crashes: before its removal the 1st, (n+1)th … (24); after it
    /// the nth, 2nth … (25).
    package var flushesPerCrash = 2
    /// The number of items after which it crashes; nil: right before the first removal (24).
    package var itemsBeforeCrash: Int?
    /// The number of a crashed flush's last items that the SDK had not stored (25).
    package var itemsUnstored = 1
    /// Scenes that flush at each launch (31).
    package var scenes = 2
    /// The app is updated right before each nth launch of a device (14, 28).
    package var launchesPerUpdate = 2
    /// Each nth save on a device comes before the first unlock (37).
    package var savesPerLockedSave = 10

    /// The time until which launches find no instance of the SDK, as before a consent; nil: for ever (26).
    package var instanceMissingUntil: Timestamp?
    /// The SDK in the app (27, 30).
    package var sdk = SDKVersion(18, 0, 0)
    /// Tells whether the SDK is disabled (27).
    package var isSDKDisabled = false
    /// Names of events and attributes that the SDK refuses (27).
    package var blocklist: Set<Name> = []
    /// Processes that forget the storage argument (34), or whose target lacks the app group (36); empty: every
    /// extension.
    package var strayProcesses: Set<Name> = []

    /// Makes the conditions in which everything has its default.
    package init() {}

    /// Tells whether `process` looks into another storage than it should.
    func isStray(_ process: Name) -> Bool {
        strayProcesses.isEmpty ? process != DeviceStorage.app : strayProcesses.contains(process)
    }
}

/// The language of a snippet in the guide.
package enum SnippetLanguage: String, Sendable, CaseIterable {
    case swift
    case objectiveC = "objc"

    /// The language in words.
    var name: String { self == .swift ? "Swift" : "Objective-C" }
}

/// The result of a cast of a number from a property list (spec/device.md 6.2, 18).
package enum PlistNumbers: String, Sendable, CaseIterable {
    /// As Foundation casts its number objects: 0 and 1 are booleans, and whatever a double holds exactly is one.
    case bridged
    /// Each number is of its own type only.
    case exact
}

/// A version of the Braze Swift SDK, or of AppboyKit before it.
package struct SDKVersion: Hashable, Comparable, Sendable, CustomStringConvertible {
    private let numbers: [Int]

    init(_ major: Int, _ minor: Int, _ patch: Int) { numbers = [major, minor, patch] }

    /// Reads `18`, `18.0` or `18.0.0`; nil for all else.
    package init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        let numbers = parts.compactMap { UInt16($0) }.map(Int.init)
        guard (1...3).contains(numbers.count), numbers.count == parts.count else { return nil }
        self.numbers = numbers + Array(repeating: 0, count: 3 - numbers.count)
    }

    /// The older first.
    package static func < (left: SDKVersion, right: SDKVersion) -> Bool {
        left.numbers.lexicographicallyPrecedes(right.numbers)
    }

    /// As in `18.0.0`.
    package var description: String { numbers.map(String.init).joined(separator: ".") }

    var dropsEventsWithoutSession: Bool { self < SDKVersion(18, 1, 0) }
    var countsCharacters: Bool { self >= SDKVersion(11, 1, 1) }
    /// AppboyKit refused events whose dictionary of properties was empty; the Swift SDK begins with version 5.
    var refusesEmptyProperties: Bool { self < SDKVersion(5, 0, 0) }
}
