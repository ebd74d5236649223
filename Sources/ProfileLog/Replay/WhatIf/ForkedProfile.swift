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
        if effect != .none {
            let altered = fork()
            effect.withRecord(inPlaceOf: header) { Self.apply($0, position, names, to: &altered.state) }
            // An omitted event has its place all the same: versions do not differ.
            altered.state.version = Version(rawValue: header.version)
            altered.state.lastPosition = Position(rawValue: position)
        } else if let altered {
            Self.apply(header, position, names, to: &altered.state)
        }
        Self.apply(header, position, names, to: &before)
    }

    private static func apply(
        _ header: RecordHeader, _ position: UInt64, _ names: NameTable, to state: inout ProfileState
    ) {
        ProfileProjection.apply(
            EventView(header: header, position: Position(rawValue: position), names: names), to: &state)
    }

    private mutating func fork() -> Altered {
        if let altered { return altered }
        let altered = Altered(before)
        self.altered = altered
        return altered
    }

    /// Adds the profile of a user who is merged into this one.
    mutating func merge(_ source: ForkedProfile) {
        if altered != nil || source.altered != nil {
            ProfileProjection.merge(source.after ?? source.before, into: &fork().state)
        }
        ProfileProjection.merge(source.before, into: &before)
    }
}

extension ForkedProfile {
    /// Folds the events of `steps` in.
    mutating func apply(
        _ steps: [FoldOrder.Step], _ alteration: Alteration, _ names: NameTable, _ view: LogView
    ) throws {
        // Merges may be as deep as there are users.
        var waiting: [ForkedProfile] = []
        for step in steps {
            switch step {
            case .event(let position): apply(try view.header(at: position), position, alteration, names)
            case .mergeBegins:
                waiting.append(self)
                self = ForkedProfile()
            case .mergeEnds:
                guard var target = waiting.popLast() else { preconditionFailure("a merge that did not begin") }
                target.merge(self)
                self = target
            }
        }
    }
}
