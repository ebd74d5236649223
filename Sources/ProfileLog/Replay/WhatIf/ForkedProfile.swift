/// A profile as the log has it, and as an altered history would.
struct ForkedProfile {
    fileprivate(set) var before = ProfileProjection.initial
    /// The altered state; nil while nothing was altered: most users of most questions never need a second state.
    fileprivate var altered: Altered?

    fileprivate final class Altered {
        var state: ProfileState
        init(_ state: ProfileState) { self.state = state }
    }

    /// The profile of the altered history; nil if none of the user's events is altered.
    var after: ProfileState? { altered?.state }

    fileprivate mutating func fork() -> Altered {
        if let altered { return altered }
        let altered = Altered(before)
        self.altered = altered
        return altered
    }
}

/// Folds profiles by the rules of the log, and by those of an altered history where that differs.
struct ForkedFold: EventFold {
    private let alteration: Alteration
    /// The driver of the altered history.
    private let driver: FoldDriver
    private let profile = ProjectionFold<ProfileProjection>()

    init(_ alteration: Alteration, _ names: NameTable) {
        self.alteration = alteration
        driver = FoldDriver(names: names, rules: alteration.alteredTimeline)
    }

    var initial: ForkedProfile { ForkedProfile() }

    @inline(__always)
    func apply(_ event: borrowing EventView, to forked: inout ForkedProfile) {
        let (header, position) = (event.header, event.position)
        let effect = alteration.effect(on: header, at: position.rawValue)
        if effect != .none || forked.altered != nil || alteration.hasOwnRules {
            let altered = forked.fork()
            effect.withRecord(inPlaceOf: header) { header in
                driver.withEvent(header, at: position.rawValue, effect: event.effect.rawValue) {
                    profile.apply($0, to: &altered.state)
                }
            }
            // An omitted event has its place all the same: versions do not differ.
            if event.effect == position {
                altered.state.version = Version(rawValue: header.version)
                altered.state.lastPosition = position
            }
        }
        profile.apply(event, to: &forked.before)
    }

    func merge(_ source: ForkedProfile, into target: inout ForkedProfile, by event: borrowing EventView) {
        if target.altered != nil || source.altered != nil {
            let altered = target.fork()
            driver.withEvent(event.header, at: event.position.rawValue) {
                profile.merge(source.after ?? source.before, into: &altered.state, by: $0)
            }
        }
        profile.merge(source.before, into: &target.before, by: event)
    }
}
