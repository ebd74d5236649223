/// The events of a user in the order in which every fold by user applies them, without those that are void, and the
/// events of merged users before their merge.
///
/// What follows it is a fold by the rules of the live one, whatever it does with each event.
package enum FoldOrder: Projection {
    package enum Step: Hashable, Sendable {
        /// The event at this position.
        case event(UInt64)
        /// Up to the `mergeEnds` that belongs to it come the events of a user who is merged. Then their state is added,
        /// and the `usersMerged` event is next.
        case mergeBegins, mergeEnds
    }

    package static let name = "order"
    package static let revision: UInt32 = 1
    package static var initial: [Step] { [] }

    package static func apply(_ event: borrowing EventView, to state: inout [Step]) {
        state.append(.event(event.position.rawValue))
    }

    package static func merge(_ source: [Step], into target: inout [Step]) {
        target.append(.mergeBegins)
        target += source
        target.append(.mergeEnds)
    }

    /// It has no snapshots.
    package static func encode(_ state: [Step]) -> [UInt8] { [] }
    package static func decode(_ bytes: UnsafeRawBufferPointer) -> [Step]? { nil }
}
