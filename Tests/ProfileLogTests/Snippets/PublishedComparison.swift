import ProfileLog
import Testing

@testable import ProfileLogSnippets

/// The same inputs played by `PublishedDevice`, by the literal copy, and by the literal copy without a bug.
struct PublishedComparison {
    let end: PublishedEnd
    private let literal: LiteralGuide
    private let standard: LiteralGuide
    private let policy: PublishedPolicy
    private let items: [SavedItem]

    init(_ policy: PublishedPolicy, _ inputs: [PublishedInput]) {
        self.policy = policy
        end = PublishedEnd(policy, inputs)
        literal = LiteralGuide(policy)
        standard = LiteralGuide(.standard)
        for guide in [literal, standard] {
            for input in inputs { guide.play(input) }
            guide.end()
        }
        items = inputs.compactMap { if case .saved(let item) = $0 { item } else { nil } }
    }

    /// Every item of which the copies differ is reported so, under a fault that is switched on; and no other is.
    func expectAccounted(_ comment: String, _ location: SourceLocation = #_sourceLocation) {
        let ours = end.deliveries.map { "\($0.item.rawValue) \($0.user.rawValue) \($0.time.rawValue) \($0.content)" }
        let theirs = literal.calls.map { "\($0.id) \($0.user) \($0.time) \($0.content)" }
        if let index = zip(ours, theirs).enumerated().first(where: { $1.0 != $1.1 })?.offset {
            Issue.record("\(comment): call \(index): \(ours[index]) ≠ \(theirs[index])", sourceLocation: location)
            return
        }
        #expect(ours.count == theirs.count, "\(comment)", sourceLocation: location)

        let calls = Dictionary(grouping: literal.calls, by: \.id)
        let right = Dictionary(grouping: standard.calls, by: \.id)
        let left = Set(literal.userDefaults.values.flatMap { $0.values.flatMap { $0.map(\.id) } })
        let overtaking = literal.overtaking
        #expect(end.outcomes.count == items.count, "\(comment)", sourceLocation: location)
        for item in items {
            let id = item.position.rawValue
            let effects = end.effects(of: id)
            let calls = calls[id] ?? []
            let why = "\(comment): item \(id) \(end.deviations(of: id))"
            #expect(end.deviations(of: id).allSatisfy { policy.has($0.fault) }, "\(why)", sourceLocation: location)

            let isDiscarded = literal.discarded.contains(id)
            let isGone = calls.isEmpty && !left.contains(id) && !isDiscarded && !effects.contains(.kept)
            let isLost = isGone && !literal.rejected.contains(id)
            if !isDiscarded {
                let saysLost = effects.contains(.lost)
                #expect(saysLost == isLost || effects.contains(.kept), "\(why)", sourceLocation: location)
            }
            #expect(effects.contains(.doubled) == (calls.count > 1), "\(why)", sourceLocation: location)
            let isAnotherUsers = calls.contains { $0.user != item.user.rawValue }
            #expect(effects.contains(.wrongUser) == isAnotherUsers, "\(why)", sourceLocation: location)
            let isMisdated = calls.contains { $0.time != item.savedAt.rawValue }
            #expect(effects.contains(.misdated) == isMisdated, "\(why)", sourceLocation: location)
            #expect(effects.contains(.reordered) == overtaking.contains(id), "\(why)", sourceLocation: location)
            if !calls.isEmpty {
                #expect(end.outcomes[id]?.fate == .delivered, "\(why)", sourceLocation: location)
                let isChanged = calls.contains { $0.content != item.content }
                #expect(effects.isDisjoint(with: Self.changes) == !isChanged, "\(why)", sourceLocation: location)
            }
            if !isLost, !isDiscarded, let due = right[id]?.first?.launch {
                let isLate = (calls.first?.launch ?? .max) > due
                #expect(effects.isDisjoint(with: [.delayed, .kept]) == !isLate, "\(why)", sourceLocation: location)
            }
        }
    }

    private static let changes: Set<FaultEffect> = [.partlyLost, .mistyped, .renamed, .becameAttributes, .truncated]
}

extension LiteralGuide {
    /// Items that a launch delivered before one of a later list which was saved before them.
    fileprivate var overtaking: Set<UInt64> {
        var overtaking: Set<UInt64> = []
        for calls in Dictionary(grouping: calls.filter { !$0.isSecondScene }, by: \.launch).values {
            for (index, call) in calls.enumerated() {
                if calls[(index + 1)...].contains(where: { $0.key != call.key && $0.id < call.id }), bug(9) {
                    overtaking.insert(call.id)
                }
            }
        }
        return overtaking
    }
}
