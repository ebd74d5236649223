extension Fault {
    /// What it can do to an item, the worst first.
    public var effects: [FaultEffect] {
        switch self {
        case .eventSavedAsAttributes: [.lost, .doubled, .becameAttributes, .delayed]
        case .nameReplacedByProperty: [.renamed]
        case .noTimeStored: [.misdated]
        case .noUserStored: [.wrongUser]
        case .noOrderAcrossLists: [.reordered]
        case .onlySetIsPossible, .collectionsVanish, .arraySetterUnused: [.lost, .partlyLost]
        case .numbersChangeType: [.mistyped]
        case .savesOverwriteEachOther: [.lost, .doubled, .delayed]
        case .crashBeforeRemoval: [.doubled, .delayed]
        case .flushedTwice: [.doubled]
        case .refusalIgnored: [.lost, .partlyLost, .truncated]
        case .storedTypeMismatch: [.lost, .kept]
        case .returnDoesNotFlush: [.delayed]
        case .storageArgumentForgotten, .appGroupMissing: [.kept]
        case .nameIsNoString, .onlyEmailExists, .emptyEmailUndecodable, .updateBreaksDecoding,
            .languagesEncodeDifferently, .archivingFails, .nullCrashesSave, .removalTakesMoreThanRead,
            .crashBeforePersistence, .instanceMissing, .noSessionInBackground, .resetTakesEverything,
            .readBeforeUnlock:
            [.lost]
        }
    }

    /// What a history does not say and the fault depends on, with the default; nil if it needs nothing else.
    public var condition: String? {
        switch self {
        case .eventSavedAsAttributes, .archivingFails: "language of the saving process: Objective-C if named alone"
        case .languagesEncodeDifferently: "languages of both processes: a Swift extension and an Objective-C app"
        case .arraySetterUnused: "language of the app: Objective-C if named alone"
        case .numbersChangeType: "numbers: bridged, as Foundation casts what a property list gives"
        case .updateBreaksDecoding, .storedTypeMismatch: "launches per update of the app: 2"
        case .savesOverwriteEachOther: "a save lasts 10 ms and a flush 100 ms per list"
        case .removalTakesMoreThanRead: "a flush lasts 100 ms per list"
        case .crashBeforeRemoval: "every 2nd flush crashes, from the first on, right before its first removal"
        case .crashBeforePersistence: "every 2nd flush loses its last item"
        case .instanceMissing: "the instance is missing at every launch"
        case .refusalIgnored: "SDK 18.0.0, enabled, nothing blocklisted"
        case .noSessionInBackground: "SDK 18.0.0"
        case .flushedTwice: "2 scenes at each launch"
        case .storageArgumentForgotten, .appGroupMissing: "by every extension"
        case .readBeforeUnlock: "every 10th save on a device"
        default: nil
        }
    }

    /// What the newest Swift snippets do whatever the circumstances.
    public static let ofNewestSwift: Set<Fault> = [
        .nameReplacedByProperty, .nameIsNoString, .noTimeStored, .noUserStored, .noOrderAcrossLists, .onlySetIsPossible,
        .onlyEmailExists, .emptyEmailUndecodable, .numbersChangeType, .collectionsVanish, .nullCrashesSave,
        .refusalIgnored, .returnDoesNotFlush, .resetTakesEverything,
    ]

    /// What the newest snippets add where a process is written in Objective-C.
    public static let ofNewestObjectiveC: Set<Fault> = [
        .eventSavedAsAttributes, .languagesEncodeDifferently, .archivingFails, .arraySetterUnused,
    ]
}
