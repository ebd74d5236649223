/// A profile as the log has it, and as an altered history would.
struct ForkedProfile {
    private(set) var before = ProfileProjection.initial
    /// Nil while nothing was altered: most users of most questions never need a second state.
    private var altered: Altered?

    private final class Altered {
        var state: ProfileState
        init(_ state: ProfileState) { self.state = state }
    }

    /// The profile of the altered history; nil if none of the user's events is altered.
    var after: ProfileState? { altered?.state }

    /// Folds one event in.
    @inline(__always)
    mutating func apply(_ header: RecordHeader, _ position: UInt64, _ alteration: Alteration, _ names: NameTable) {
        let effect = alteration.effect(on: header, at: position)
        if effect != .none || altered != nil || alteration.hasOwnRules {
            let altered = fork()
            let rules = alteration.alteredTimeline?.rules(at: position)
            effect.withRecord(inPlaceOf: header) { Self.apply($0, position, names, rules, to: &altered.state) }
            // An omitted event has its place all the same: versions do not differ.
            altered.state.version = Version(rawValue: header.version)
            altered.state.lastPosition = Position(rawValue: position)
        }
        Self.apply(header, position, names, alteration.timeline?.rules(at: position), to: &before)
    }

    @inline(__always)
    private static func apply(
        _ header: RecordHeader, _ position: UInt64, _ names: NameTable, _ rules: BoundRules?,
        to state: inout ProfileState
    ) {
        let event = EventView(header: header, position: Position(rawValue: position), names: names)
        if let rules {
            ProfileProjection.apply(event, to: &state, under: rules)
        } else {
            ProfileProjection.apply(event, to: &state)
        }
    }

    private mutating func fork() -> Altered {
        if let altered { return altered }
        let altered = Altered(before)
        self.altered = altered
        return altered
    }

    /// Adds the profile of a user who is merged into this one by the event at `position`.
    private mutating func merge(_ source: ForkedProfile, at position: UInt64, _ alteration: Alteration) {
        if altered != nil || source.altered != nil {
            let timeline = alteration.alteredTimeline
            ProfileProjection.merge(source.after ?? source.before, into: &fork().state, at: position, on: timeline)
        }
        ProfileProjection.merge(source.before, into: &before, at: position, on: alteration.timeline)
    }

    /// Folds the events of `steps` in. The event after them, if they do not end with one, is at `next`.
    mutating func apply(
        _ steps: [FoldOrder.Step], next: UInt64 = 0, _ alteration: Alteration, _ names: NameTable, _ view: LogView
    ) throws {
        // Merges may be as deep as there are users.
        var waiting: [ForkedProfile] = []
        for (index, step) in steps.enumerated() {
            switch step {
            case .event(let position): apply(try view.header(at: position), position, alteration, names)
            case .mergeBegins:
                waiting.append(self)
                self = ForkedProfile()
            case .mergeEnds:
                guard var target = waiting.popLast() else { preconditionFailure("a merge that did not begin") }
                var position = next
                if index + 1 < steps.count, case .event(let merge) = steps[index + 1] { position = merge }
                target.merge(self, at: position, alteration)
                self = target
            }
        }
    }
}
