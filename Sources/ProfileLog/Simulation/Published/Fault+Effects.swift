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
