/// How items are saved and flushed: the published way, with the faults that are switched on.
///
/// Without a fault it is `.standard`: every item that the app can see is delivered once, exact, to the user of its save
/// and with its time.
public struct PublishedPolicy: Hashable, Sendable {
    /// The faults that are switched on.
    public var faults: Set<Fault>
    /// What no history says.
    public var conditions: PublishedConditions

    /// Switches on `faults` under `conditions`.
    public init(_ faults: Set<Fault>, _ conditions: PublishedConditions = PublishedConditions()) {
        self.faults = faults
        self.conditions = conditions
    }

    /// No fault: what this project's store does.
    public static let standard = PublishedPolicy([])

    /// The guide's newest snippets: the faults that show whatever the circumstances, in the languages that `conditions` state.
    public static func faithful(_ conditions: PublishedConditions = PublishedConditions()) -> PublishedPolicy {
        let objectiveC = conditions.isAnythingObjectiveC ? Fault.ofNewestObjectiveC : []
        return PublishedPolicy(Fault.ofNewestSwift.union(objectiveC), conditions)
    }

    func has(_ fault: Fault) -> Bool { faults.contains(fault) }

    /// The language of `process`: as stated, else that in which the faults that are switched on show, else Swift.
    public func language(of process: Name) -> SnippetLanguage {
        if let stated = conditions.languages[process] ?? conditions.language { return stated }
        let isApp = process == DeviceStorage.app
        return (isApp ? appShowsInObjectiveC : savesShowInObjectiveC) ? .objectiveC : .swift
    }

    /// Why `fault` cannot show in what these processes save: a clause about their languages and the app's; nil if it can.
    public func whyHidden(_ fault: Fault, of processes: Set<Name>) -> String? {
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

    private var savesShowInObjectiveC: Bool {
        !faults.isDisjoint(with: [.eventSavedAsAttributes, .archivingFails]) && !has(.emptyEmailUndecodable)
    }

    private var appShowsInObjectiveC: Bool {
        if has(.numbersChangeType) || has(.collectionsVanish) { return false }
        return has(.arraySetterUnused) || has(.languagesEncodeDifferently) && !savesShowInObjectiveC
    }

    /// How long a save takes; nothing unless two saves can meet.
    var saveLasts: Int64 { has(.savesOverwriteEachOther) ? conditions.saveLasts.inMicroseconds : 0 }

    /// How long the flush of one list takes; nothing unless a save can meet it.
    var flushLasts: Int64 {
        has(.savesOverwriteEachOther) || has(.removalTakesMoreThanRead) ? conditions.flushLasts.inMicroseconds : 0
    }
}

extension Duration {
    fileprivate var inMicroseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds.multipliedReportingOverflow(by: 1_000_000).partialValue &+ attoseconds / 1_000_000_000_000
    }
}
