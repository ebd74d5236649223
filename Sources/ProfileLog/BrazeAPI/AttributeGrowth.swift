internal import ProfileLogRequests

/// Keeps attributes that grow within the limits, by what the profile holds when the request is decided (spec/rest-api
/// 1.2).
///
/// Of an array that grows too long or too large, the oldest elements go. An object or an array of objects that would
/// become too large stays as it is, whatever else is done to it at once. Only what makes room requires the user
/// unchanged: two requests that each find room may together pass the limit, and the next `add` brings the array back.
struct AttributeGrowth {
    let limits: TrackLimits

    /// Adds to `object` what makes room, drops from it what cannot have any, and says what changes nothing.
    func fit(_ object: inout TrackObject, _ profiles: inout TrackProfiles) throws {
        // The policies cost a look at the log.
        guard object.events.contains(where: { $0.kind == .customAttributesChanged }) else { return }
        let policies = try profiles.view.policies()
        guard object.events.contains(where: { $0.isRelative(under: policies) }) else { return }
        let user = object.target.user
        let time = object.context.occurredAt?.timestamp ?? profiles.view.log.options.now()
        var events: [ProfileEvent] = []
        /// The attributes as the events so far leave them.
        var values: [Name: AttributeValue?] = [:]
        /// The attributes that stay as they are, for one of their operations finds no room.
        var full: Set<Name> = []
        var effects = AttributeEffects()
        for event in object.events {
            guard case .customAttributesChanged(let changes) = event else {
                events.append(event)
                continue
            }
            var kept: [AttributeChange] = []
            var room: [AttributeChange] = []
            for change in changes where !full.contains(change.name) {
                let policy = policies[change.name] ?? .lastArrival
                guard change.operation.isRelative || policy != .lastArrival else {
                    kept.append(change)
                    continue
                }
                let loss = try profiles.reasonToLose(change.name, at: time, of: user, under: policy)
                let old = try values[change.name] ?? profiles.customAttribute(change.name, of: user)
                let new = change.operation.applied(to: old, under: policy)
                values[change.name] = .some(new)
                // What is to be removed may never have been there.
                let isGone = old == nil && change.operation.onlyRemoves
                let reason = isGone ? nil : loss ?? change.operation.reasonWithoutEffect(on: old, under: policy)
                // It is stored all the same: the profile may be another one by then.
                if let reason { effects.replace(with: reason, of: change.name) }
                let mayGrow = change.operation.isRelative ? !change.operation.onlyRemoves : policy == .setUnion
                guard reason == nil, mayGrow, let new, isTooLarge(new, after: old) else {
                    kept.append(change)
                    continue
                }
                guard let added = change.operation.added(under: policy), case .array(let elements) = new,
                    case let rest = fitting(elements), !rest.isEmpty
                else {
                    full.insert(change.name)
                    continue
                }
                let gone = elements.dropLast(rest.count).filter(Set(old?.asArray ?? []).contains)
                if !gone.isEmpty {
                    room.append(.init(change.name, .arrayRemove(gone)))
                    try profiles.view.requireUnchanged(user)
                }
                kept.append(.init(change.name, .arrayAdd(added.suffix(rest.count))))
                values[change.name] = .array(rest)
                let note = rest.count < added.count ? onlyLastKept : "is full, so the oldest elements were removed"
                effects.add(note, of: change.name)
            }
            if !room.isEmpty { events.append(.customAttributesChanged(room)) }
            if !kept.isEmpty { events.append(.customAttributesChanged(kept)) }
        }
        object.events = events
        effects.tell(in: &object)
        let reason = "would become larger than \(shownBytes)"
        object.leaveAlone(Dictionary(uniqueKeysWithValues: full.map { ($0, reason) }))
    }

    private var onlyLastKept: String { "has more elements than \(shownBytes) can hold, of which the last were kept" }

    private var shownBytes: String { TrackLimits.shown(bytes: limits.bytesPerNestedValue) }

    /// Tells whether there is no room for `value`. Objects that were too large before need room only for more than they
    /// were.
    private func isTooLarge(_ value: AttributeValue, after old: AttributeValue?) -> Bool {
        switch AttributeType(value) {
        case .array:
            value.asArray?.count ?? 0 > limits.arrayElements || value.jsonByteCount > limits.bytesPerNestedValue
        case .object, .objectArray:
            value.jsonByteCount > max(limits.bytesPerNestedValue, old?.jsonByteCount ?? 0)
        default: false
        }
    }

    /// The newest of `elements` that fit.
    private func fitting(_ elements: [AttributeValue]) -> [AttributeValue] {
        // Two brackets, and a comma less than there are elements.
        var bytes = 2 - 1
        let rest = elements.suffix(limits.arrayElements).reversed().prefix { element in
            bytes += element.jsonByteCount + 1
            return bytes <= limits.bytesPerNestedValue
        }
        return rest.reversed()
    }
}

/// The effects of an object's operations on attributes, checked in turn.
private struct AttributeEffects {
    private var said: [(name: Name, reason: String)] = []
    /// The position from which on it knows an attribute, also before all this.
    private var begins: [Name: Int] = [:]

    mutating func add(_ reason: String, of attribute: Name) { said.append((attribute, reason)) }

    /// Takes the place of all that was said of the attribute.
    mutating func replace(with reason: String, of attribute: Name) {
        begins[attribute] = said.count
        add(reason, of: attribute)
    }

    func tell(in object: inout TrackObject) {
        if said.isEmpty { return }
        object.dropped.removeAll { begins[Name($0.field)] != nil }
        for (place, note) in said.enumerated() where place >= begins[note.name] ?? 0 {
            object.dropped.append((note.name.text, note.reason))
        }
    }
}

extension ProfileEvent {
    /// Tells whether its effect depends on the profile.
    fileprivate func isRelative(under policies: [Name: AttributePolicy]) -> Bool {
        guard case .customAttributesChanged(let changes) = self else { return false }
        return changes.contains { $0.operation.isRelative || policies[$0.name] != nil }
    }
}

extension AttributeOperation {
    /// The elements that it adds to an array; nil if it does something else.
    fileprivate func added(under policy: AttributePolicy) -> [AttributeValue]? {
        switch self {
        case .arrayAdd(let values): values
        case .set(.array(let values)) where policy == .setUnion: values
        default: nil
        }
    }

    fileprivate var onlyRemoves: Bool {
        switch self {
        case .arrayRemove, .objectsRemove: true
        default: false
        }
    }
}
