/// The events of a user in the order in which every fold by user applies them, without those that are void, and the
/// events of merged users before their merge: for a fold that another program does.
package struct FoldOrder: EventFold {
    package enum Step: Hashable, Sendable {
        /// The event at this position.
        case event(UInt64)
        /// The events of a merged user begin, up to the `mergeEnds` that belongs to it. Then their state is added, and
        /// the `usersMerged` event is next.
        case mergeBegins, mergeEnds
    }

    package static var takesEffects: Bool { false }

    package init() {}

    package var initial: [Step] { [] }

    package func apply(_ event: borrowing EventView, to steps: inout [Step]) {
        steps.append(.event(event.position.rawValue))
    }

    package func merge(_ source: [Step], into target: inout [Step], by event: borrowing EventView) {
        target.append(.mergeBegins)
        target += source
        target.append(.mergeEnds)
    }
}
