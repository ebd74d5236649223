/// A write of an attribute that a walk has met.
struct AttributeWrite: Equatable {
    /// The event with the value; for what was saved and flushed, the saved one.
    let position: UInt64
    /// The value after it, in stored form; nil if it removed the value.
    let bytes: [UInt8]?
    /// The `eventVoided` event that made it void. Then it changed nothing.
    var void: UInt64?

    /// The value after it; nil if it removed the value.
    var value: AttributeValue? { bytes.flatMap { $0.withUnsafeBytes { ValueCodec.read($0)?.value } } }
}

/// A walk's knowledge of one attribute.
struct AttributeTrack {
    /// The last write; nil before the first.
    private(set) var current: AttributeWrite?
    /// The write before it.
    private(set) var previous: AttributeWrite?
    /// All writes, if they are wanted.
    var all: [AttributeWrite] = []
    /// The value by its parts before `steps`, if it is an array or an object.
    private var parts: TracedValue?
    /// The changes of its parts since, up to the last value.
    private var steps: [TracedValue.Step] = []
    /// Tells whether the writers of all parts are known, and not only that of the value as a whole.
    private var knowsParts = true
    /// Tells whether the writers of the replaced parts are known.
    private var knowsReplaced = true

    init() {}

    /// Tells whether `traced` tells all.
    var isExact: Bool { knowsParts && knowsReplaced }

    /// The track of an attribute of which the writes before this one are unknown.
    init(from write: AttributeWrite) {
        current = write
        knowsParts = !write.isComposed
    }

    /// The last value by its parts; nil without a value.
    var traced: TracedValue? {
        guard let current, let value = current.value else { return nil }
        guard let parts else { return TracedValue(value, by: current.position, over: replaced) }
        let traced = parts.applying(steps)
        return traced.value == value ? traced : TracedValue(value, by: current.position, over: traced)
    }

    private var replaced: TracedValue? {
        guard let previous, let value = previous.value else { return nil }
        return TracedValue(value, by: previous.position)
    }

    /// Takes in the next write, which did `step`; nil if it wrote the whole value.
    mutating func add(_ write: AttributeWrite, _ step: TracedValue.Step?) {
        if write.isComposed, let step, step.keepsParts, let before = steps.isEmpty ? traced : parts {
            // The parts are asked for once, at the end: an array may grow by many steps.
            parts = before
            steps.append(step)
            knowsReplaced = knowsReplaced && knowsParts
        } else {
            let before = write.isComposed ? traced : nil
            parts = before.flatMap { before in write.value.map { TracedValue($0, by: write.position, over: before) } }
            steps = []
            (knowsReplaced, knowsParts) = (!write.isComposed || knowsParts, true)
        }
        previous = current
        current = write
    }

    /// Goes on with the track of a merged user, whose value won.
    mutating func goOn(with source: AttributeTrack) {
        var taken = source
        taken.previous = source.previous ?? current
        taken.all = all + source.all
        self = taken
    }
}

extension AttributeWrite {
    /// Tells whether the value is an array or an object.
    fileprivate var isComposed: Bool {
        guard let bytes else { return false }
        return bytes.withUnsafeBytes { bytes in
            var reader = WireReader(bytes)
            let field = reader.field()?.number
            return field == RecordField.Value.array || field == RecordField.Value.object
        }
    }
}

extension TracedValue.Step {
    /// Tells whether parts of a composed value stay as they were.
    fileprivate var keepsParts: Bool {
        switch operation {
        case .set: policy == .setUnion
        case .unset, .increment: false
        case .arrayAdd, .arrayRemove, .objectMerge, .objectsAdd, .objectsUpdate, .objectsRemove: true
        }
    }
}

/// Folds the profile of one user, and notes each write of an attribute.
struct AttributeWalk: EventFold {
    /// The position at which each write took effect, if that is another event.
    private(set) var effects: [UInt64: UInt64] = [:]
    /// The merges by which users came to this one.
    private(set) var merges: [UInt64: UInt64] = [:]
    /// The findings: of attributes with a goal as of that write, of others as of the end of the walk.
    private(set) var tracks: [FieldKey: AttributeTrack] = [:]

    private let view: LogView
    private let names: NameTable
    private let driver: FoldDriver
    /// The only attribute that matters; nil if all do.
    private let wanted: FieldKey?
    private let keepsAll: Bool
    /// The writes that this walk still looks for, ascending by version, and how many were met.
    private var goals: ArraySlice<Goal> = []
    private var met = 0
    /// The version of the next goal: there is nothing to look for before it.
    private var nextGoal = UInt64.max
    private(set) var isDone = false
    /// Bytes of all values in tracks that keep all writes: an array that grows by one element appears once for each
    /// growth.
    private var keptBytes = 0
    private static let mostKeptBytes = 256 << 20
    private static let manyBytes = 4 << 10
    /// The operation of the last event that was asked for, by attribute: an event may set thousands.
    private var lastOperations: (position: UInt64, byKey: [FieldKey: AttributeOperation]) = (0, [:])

    /// The last write of an attribute, and the user's version at that event.
    struct Goal {
        let key: FieldKey
        let position: UInt64
        let version: UInt64
    }

    /// A walk through `view`.
    ///
    /// - Parameters:
    ///   - driver: knows the rules and the events to skip.
    ///   - wanted: the only attribute that matters; nil if all do.
    ///   - keepsAll: whether tracks keep all writes.
    init(_ view: LogView, _ names: NameTable, _ driver: FoldDriver, wanted: FieldKey?, keepsAll: Bool) {
        (self.view, self.names, self.driver) = (view, names, driver)
        (self.wanted, self.keepsAll) = (wanted, keepsAll)
    }

    /// One user's profile, as far as it is folded.
    struct State {
        fileprivate var profile = ProfileProjection.initial
        fileprivate var tracks: [FieldKey: AttributeTrack] = [:]
        /// The users who were merged into this one.
        fileprivate var merged: [UInt64] = []
        /// Tells whether it is the user of the blame, and not one who was merged into them.
        fileprivate var isOwn = false
    }

    var initial: State { State() }

    /// Events of the user that are read at once: a walk often ends early.
    private static let mostPositions: UInt64 = 4096

    /// Folds the user's events in `versions`, of which the first follows `base`. With `goals`, ascending by version, it
    /// ends when it has met the first of them and the next one is far. Returns how many it has met.
    mutating func run(
        _ user: UInt64, _ versions: Range<UInt64>, from base: (version: UInt64, state: ProfileState)?,
        goals: ArraySlice<Goal> = []
    ) throws -> Int {
        var state = State(isOwn: true)
        if let base {
            state.profile = base.state
            for field in base.state.fields.fields where wanted == nil || wanted == field.key {
                state.tracks[field.key] = AttributeTrack(from: base.state.fields.write(field))
            }
        }
        self.goals = goals
        nextGoal = goals.first?.version ?? .max
        let driver = driver
        var first = versions.lowerBound
        while first < versions.upperBound, !isDone {
            let end = min(versions.upperBound, first + Self.mostPositions)
            let positions = try view.positions(of: user, from: first, to: end - 1)
            _ = try driver.fold(positions, into: &state, &self, from: view)
            first = end
        }
        if goals.isEmpty { tracks = state.tracks }
        return met
    }

    /// The most events between two goals of one walk: fewer than a new beginning costs.
    static let fewEvents: UInt64 = 256

    /// Takes the tracks of the next goals that are reached; true if no goal is near.
    private mutating func isEnd(at version: UInt64, _ state: State) -> Bool {
        let first = goals.startIndex
        while met < goals.count, goals[first + met].version <= version {
            let goal = goals[first + met]
            guard let track = state.tracks[goal.key], track.current?.position == goal.position else { return false }
            tracks[goal.key] = track
            met += 1
            nextGoal = met < goals.count ? goals[first + met].version : .max
        }
        return met == goals.count || met > 0 && goals[first + met].version > version + Self.fewEvents
    }

    // MARK: - Writes

    mutating func apply(_ event: borrowing EventView, to state: inout State) throws {
        try checkCost(of: event)
        let position = event.position.rawValue
        if let written = ProfileProjection.applyTracing(event, to: &state.profile) {
            let isNoted = note(position, written, state.profile.fields, event.rules ?? .none, &state.tracks)
            if isNoted, event.effect != event.position { effects[position] = event.effect.rawValue }
        }
        // An item is of an earlier version: the outcome follows it.
        if event.version.rawValue >= nextGoal, state.isOwn, event.effect == event.position {
            isDone = isEnd(at: event.version.rawValue, state)
        }
    }

    /// One event may have thousands of attributes.
    private func checkCost(of event: borrowing EventView) throws {
        if keptBytes > Self.mostKeptBytes { throw ReadError.tooLarge(bytes: Self.mostKeptBytes) }
        if event.header.body.count > Self.manyBytes { try view.budget?.check() }
    }

    /// Notes what the event at `position` has just written; false if that is nothing.
    private mutating func note(
        _ position: UInt64, _ written: ProfileProjection.Written, _ fields: FieldStore, _ rules: BoundRules,
        _ tracks: inout [FieldKey: AttributeTrack]
    ) -> Bool {
        if let wanted, !written.mayHave(wanted) { return false }
        var isNoted = false
        func write(of key: FieldKey) -> AttributeWrite? {
            if let field = fields.field(key) { return field.position == position ? fields.write(field) : nil }
            let isRemoved = tracks[key]?.current?.bytes != nil
            return isRemoved ? AttributeWrite(position: position, bytes: nil) : nil
        }
        func note(_ key: FieldKey) {
            guard let write = write(of: key) else { return }
            isNoted = true
            // What is no array or object has no parts, whatever the operation was.
            let operation = write.isComposed ? operation(on: key, position) : nil
            let step = operation.flatMap { TracedValue.Step($0, on: key, under: rules, by: position) }
            add(write, step, key, &tracks)
        }
        if let wanted {
            note(wanted)
        } else {
            if written.hasStandard { Self.standardKeys.forEach(note) }
            written.keys.forEach(note)
        }
        return isNoted
    }

    private static let standardKeys = StandardAttribute.allCases.map { FieldKey(standard: UInt32($0.rawValue)) }

    private mutating func add(
        _ write: AttributeWrite, _ step: TracedValue.Step?, _ key: FieldKey, _ tracks: inout [FieldKey: AttributeTrack]
    ) {
        tracks[key, default: AttributeTrack()].add(write, step)
        guard keepsAll else { return }
        tracks[key]?.all.append(write)
        keptBytes += write.bytes?.count ?? 0
    }

    /// Returns the operation of the event at `position` on a custom attribute; nil if it sets another attribute, or
    /// more of it.
    private mutating func operation(on key: FieldKey, _ position: UInt64) -> AttributeOperation? {
        guard key.isCustom else { return nil }
        if lastOperations.position != position {
            lastOperations = (position, [:])
            guard let header = try? view.header(at: position) else { return nil }
            lastOperations.byKey = Dictionary(operations(header, position)) { first, _ in first }
        }
        return lastOperations.byKey[key]
    }

    private func operations(
        _ header: RecordHeader, _ position: UInt64
    ) -> [(key: FieldKey, operation: AttributeOperation)] {
        guard let recorded = RecordedEvent(header, position: Position(rawValue: position), names: names.current) else {
            return []
        }
        var event = recorded.event
        if case .queued(let queued) = event { event = queued }
        if case .customAttributesSaved(let changes) = event { event = .customAttributesChanged(changes) }
        if case .userAttributeSaved(let change) = event { event = .userAttributesChanged([change]) }
        if case .userAttributesChanged(let changes) = event {
            return changes.map { (FieldKey(standard: UInt32($0.attribute.rawValue)), .set($0.value)) }
        }
        guard case .customAttributesChanged(let changes) = event else { return [] }
        return changes.compactMap { change in
            names.number(change.name).map { (FieldKey(custom: $0), change.operation) }
        }
    }

    /// Notes what a void event would have written now.
    mutating func skip(_ event: borrowing EventView, void: UInt64, _ state: inout State) throws {
        try checkCost(of: event)
        guard keepsAll else { return }
        let (position, at) = (event.position.rawValue, event.occurredAt.rawValue)
        for (key, operation) in operations(event.header, position) where wanted == nil || wanted == key {
            let value = state.profile.value(
                of: key, after: operation, position: position, at: at, under: event.rules ?? .none)
            var writer = WireWriter()
            if let value { ValueCodec.write(value, to: &writer) }
            let bytes = value == nil ? nil : Array(writer.bytes)
            keptBytes += bytes?.count ?? 0
            state.tracks[key, default: AttributeTrack()].all.append(
                AttributeWrite(position: position, bytes: bytes, void: void))
        }
    }

    // MARK: - Merges

    /// Attributes that come from the source keep its writes.
    mutating func merge(_ source: State, into target: inout State, by event: borrowing EventView) {
        let position = event.position.rawValue
        var users = source.merged
        if let user = RecordBody(event.header.body)?.otherUser { users.append(user) }
        for user in users { merges[user] = position }
        target.merged += users
        // Attributes that only the target has stay as they are, and are not looked at.
        let keys = Set(source.profile.fields.fields.map(\.key) + source.profile.removals.keys)
        let before = Dictionary(
            keys.compactMap { key in target.profile.fields.write(of: key).map { (key, $0) } }, uniquingKeysWith: { $1 })
        ProfileProjection.merge(source.profile, into: &target.profile, under: event.rules ?? BoundRules.none)
        for key in keys where wanted == nil || wanted == key {
            guard let write = target.profile.fields.write(of: key) else {
                if before[key] != nil { add(.init(position: position, bytes: nil), nil, key, &target.tracks) }
                continue
            }
            if before[key] == write { continue }
            if let track = source.tracks[key], track.current == write {
                target.tracks[key, default: AttributeTrack()].goOn(with: track)
            } else {
                // Entries of both, as for push tokens.
                add(write, nil, key, &target.tracks)
            }
        }
    }
}

extension FieldStore {
    /// The write of one of the fields.
    fileprivate func write(_ field: Field) -> AttributeWrite {
        AttributeWrite(position: field.position, bytes: withBytes(field) { Array($0) })
    }

    /// The last write of an attribute; nil if it has no value.
    fileprivate func write(of key: FieldKey) -> AttributeWrite? { field(key).map { write($0) } }
}
