/// Attributes under fold rules.
extension ProfileState {
    /// Does `operation` with an attribute by `rule`.
    mutating func apply(
        _ operation: AttributeOperation, to key: FieldKey, by rule: AttributeRule, position: UInt64, at: Int64
    ) {
        guard let operation = rule.fitting(operation) else { return }
        let field = fields.field(key)
        switch rule.policy {
        case .firstWins: if field != nil { return }
        case .lastOccurred: if let last = field?.at ?? removals[key], at < last { return }
        case .lastArrival, .counter, .setUnion: break
        }
        if operation == .unset || operation == .set(.null) {
            fields.remove(key)
            if rule.policy == .lastOccurred { removals[key] = at } else if !removals.isEmpty { removals[key] = nil }
            return
        }
        if field != nil, let (change, elements) = rule.policy.elementChange(operation),
            fields.change(key, change, elements, position: position, at: at)
        {
            return
        }
        guard let value = rule.policy.value(of: operation, on: field.flatMap { fields.value($0) }, by: ()) else {
            return
        }
        set(key, value, position: position, at: at)
    }

    /// The value that the attribute would have after `operation`.
    package func value(
        of key: FieldKey, after operation: AttributeOperation, position: UInt64, at: Int64, under rules: BoundRules
    ) -> AttributeValue? {
        guard let rule = rules.rule(of: key) else { return operation.applied(to: fields.value(key)) }
        // This attribute only: a copy of all would cost as much as the profile.
        var state = ProfileState()
        if let field = fields.field(key) {
            fields.withBytes(field) { state.fields.set(key, $0, position: field.position, at: field.at) }
        }
        state.removals[key] = removals[key]
        state.apply(operation, to: key, by: rule, position: position, at: at)
        return state.fields.value(key)
    }

    /// Does `operation` with an attribute by its rule, if it has one.
    package mutating func apply(
        _ operation: AttributeOperation, to key: FieldKey, position: UInt64, at: Int64, under rules: BoundRules
    ) {
        let rule = rules.rule(of: key) ?? AttributeRule()
        apply(operation, to: key, by: rule, position: position, at: at)
    }

    /// Returns the reason why an update that happens at `time` loses to what is there; nil if the times do not decide
    /// it.
    package func reasonToLose(_ key: FieldKey, at time: Timestamp, under policy: AttributePolicy) -> String? {
        guard policy == .lastOccurred else { return nil }
        if let field = fields.field(key) { return time.rawValue < field.at ? "has a value that happened later" : nil }
        return removals[key].map { time.rawValue < $0 } == true ? "has a removal that happened later" : nil
    }

    private mutating func set(_ key: FieldKey, _ value: AttributeValue, position: UInt64, at: Int64) {
        fields.set(key, value, position: position, at: at)
        if !removals.isEmpty { removals[key] = nil }
    }

    /// Merges the attributes that have a policy, and returns their keys.
    ///
    /// Of two users the value that happened last wins, or was recorded first; numbers add up and arrays are joined. The
    /// target wins if both happened at one time. What both wrote keeps the event that set the target's.
    mutating func mergeAttributes(of source: ProfileState, under rules: BoundRules) -> Set<FieldKey> {
        var merged: Set<FieldKey> = []
        for field in source.fields.fields {
            guard let policy = rules.rule(of: field.key)?.policy, policy != .lastArrival else { continue }
            merged.insert(field.key)
            let own = fields.field(field.key)
            let takes: Bool
            switch policy {
            case .lastOccurred: takes = (own?.at ?? removals[field.key]).map { field.at > $0 } ?? true
            case .firstWins: takes = own.map { field.position < $0.position } ?? true
            case .counter, .setUnion, .lastArrival: takes = own == nil
            }
            if takes {
                source.fields.withBytes(field) { fields.set(field.key, $0, position: field.position, at: field.at) }
                removals[field.key] = nil
            } else if let own, let value = policy.merged(fields.value(own), with: source.fields.value(field)) {
                set(field.key, value, position: own.position, at: own.at)
            }
        }
        for (key, at) in source.removals where rules.rule(of: key)?.policy == .lastOccurred {
            if let last = fields.field(key)?.at ?? removals[key], at <= last { continue }
            fields.remove(key)
            removals[key] = at
        }
        return merged
    }
}
