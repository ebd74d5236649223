import Foundation
import ProfileLog
import TestSupport
import Testing

@Suite("The published snippets against a literal copy of them")
struct PublishedModelTests {
    @Test("Each fault alone accounts for every difference, and for no other", arguments: Fault.allCases)
    func alone(fault: Fault) {
        var effects: Set<FaultEffect> = []
        for seed in Thoroughness.seeds(short: 20, full: 64) {
            var random = SeededGenerator(seed: seed << 8 | UInt64(fault.number))
            let policy = PublishedPolicy([fault], .random(using: &random))
            let comparison = PublishedComparison(policy, .randomInputs(count: 60, policy, using: &random))
            comparison.expectAccounted("seed \(seed)")
            effects.formUnion(comparison.end.report.byEffect.keys)
        }
        #expect(!effects.isEmpty && effects.isSubset(of: fault.effects), "\(effects)")
    }

    @Test(
        "Any faults together account for every difference, and for no other",
        arguments: Thoroughness.seeds(short: 20, full: 640))
    func together(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let faults = Fault.allCases.filter { _ in random.next(below: 5) == 0 }
        let policy = PublishedPolicy(Set(faults), .random(using: &random))
        PublishedComparison(policy, .randomInputs(count: 80, policy, using: &random))
            .expectAccounted("seed \(seed), faults \(faults.map(\.number))")
    }

    @Test("The newest snippets, and all faults at once", arguments: Thoroughness.seeds(short: 8, full: 64))
    func presets(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let conditions = PublishedConditions.random(using: &random)
        for policy in [.faithful(conditions), PublishedPolicy(Set(Fault.allCases), conditions)] {
            PublishedComparison(policy, .randomInputs(count: 80, policy, using: &random))
                .expectAccounted("seed \(seed)")
        }
    }

    @Test("Without a fault nothing differs", arguments: Thoroughness.seeds(short: 8, full: 64))
    func standard(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let policy = PublishedPolicy([], .random(using: &random))
        let comparison = PublishedComparison(policy, .randomInputs(count: 200, policy, using: &random))
        comparison.expectAccounted("seed \(seed)")
        #expect(comparison.end.report.isEqual)
    }

    @Test("A long history: in the full form 10,000 items")
    func long() {
        let count = Thoroughness.count(short: 2_000, full: 16_000)
        var random = SeededGenerator(seed: 1)
        let policy = PublishedPolicy.faithful()
        let comparison = PublishedComparison(policy, .randomInputs(count: count, policy, using: &random))
        comparison.expectAccounted("long")
        #expect(comparison.end.report.items > count / 2 && comparison.end.report.affected > count / 16)
    }
}

extension Fault {
    /// The possible effects of the fault on an item.
    fileprivate var effects: [FaultEffect] {
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
}
