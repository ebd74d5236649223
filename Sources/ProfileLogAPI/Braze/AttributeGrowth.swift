internal import ProfileLog

/// Keeps attributes that grow within the limits, by what the profile holds when the request is decided (spec/rest-api 1.2).
///
/// Of an array that grows too long or too large, the oldest elements go. An object or an array of objects that would become too large stays as
/// it is. Only what removes something has the user pinned: two requests that each find room may together pass the limit, and the next
/// `add` brings the array back.
struct AttributeGrowth {
    let limits: TrackLimits

    /// Adds to `object` what makes room, and drops from it what cannot have any.
    func fit(_ object: inout TrackObject, _ profiles: inout TrackProfiles) throws {
        guard object.events.contains(where: \.isRelative) else { return }
        let user = object.target.user
        var events: [ProfileEvent] = []
        /// The attributes as the events so far leave them.
        var values: [Name: AttributeValue?] = [:]
        for event in object.events {
            guard case .customAttributesChanged(let changes) = event else {
                events.append(event)
                continue
            }
            var kept: [AttributeChange] = []
            var room: [AttributeChange] = []
            for change in changes {
                guard change.operation.isRelative else {
                    kept.append(change)
                    continue
                }
                let old = try values[change.name] ?? profiles.customAttribute(change.name, of: user)
                let new = change.operation.applied(to: old)
                values[change.name] = .some(new)
                // What is to be removed may never have been there.
                let isGone = old == nil && change.operation.onlyRemoves
                let reason = isGone ? nil : change.operation.reasonWithoutEffect(on: old)
                // It is stored all the same: the profile may be another one by then.
                if let reason { object.dropped.append((change.name.text, reason)) }
                guard reason == nil, let new, isTooLarge(new) else {
                    kept.append(change)
                    continue
                }
                if case .arrayAdd(let added) = change.operation, case .array(let elements) = new,
                    case let rest = fitting(elements), rest.count >= added.count
                {
                    room.append(.init(change.name, .arrayRemove(Array(elements.dropLast(rest.count)))))
                    kept.append(change)
                    values[change.name] = .array(rest)
                    try profiles.pin(user)
                    object.dropped.append((change.name.text, "is full, so the oldest elements were removed"))
                } else if change.operation.onlyRemoves {
                    kept.append(change)
                } else {
                    values[change.name] = .some(old)
                    object.dropped.append(
                        (change.name.text, "would become larger than \(limits.bytesPerNestedValue >> 10) KB"))
                }
            }
            if !room.isEmpty { events.append(.customAttributesChanged(room)) }
            if !kept.isEmpty { events.append(.customAttributesChanged(kept)) }
        }
        object.events = events
    }

    private func isTooLarge(_ value: AttributeValue) -> Bool {
        switch value {
        case .array(let elements):
            let isPlain = AttributeType(value) == .array
            return isPlain && elements.count > limits.arrayElements || value.jsonByteCount > limits.bytesPerNestedValue
        case .object: return value.jsonByteCount > limits.bytesPerNestedValue
        default: return false
        }
    }

    /// The newest of `elements` that fit.
    private func fitting(_ elements: [AttributeValue]) -> [AttributeValue] {
        var bytes = 2
        let rest = elements.suffix(limits.arrayElements).reversed().prefix { element in
            bytes += element.jsonByteCount + 1
            return bytes <= limits.bytesPerNestedValue
        }
        return rest.reversed()
    }
}

extension ProfileEvent {
    /// Whether what it does depends on the profile.
    fileprivate var isRelative: Bool {
        guard case .customAttributesChanged(let changes) = self else { return false }
        return changes.contains(where: \.operation.isRelative)
    }
}

extension AttributeOperation {
    fileprivate var onlyRemoves: Bool {
        switch self {
        case .arrayRemove, .objectsRemove: true
        default: false
        }
    }
}
