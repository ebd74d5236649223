/// Folds a user's events into the profile: what has taken effect, and what still waits on devices.
package enum ProfileProjection: UserProjection {
    /// The name of its snapshots.
    package static let name = "profile"
    /// Raised with the meaning of `apply`.
    package static let revision: UInt32 = 10
    /// Nothing folded yet.
    package static var initial: ProfileState { ProfileState() }

    /// Takes over what only the source has, and adds the counts; attributes with a policy by that (spec/rest-api 2.6).
    package static func merge(
        _ source: ProfileState, into target: inout ProfileState, by event: borrowing EventView
    ) {
        merge(source, into: &target, under: event.rules)
    }

    /// As `merge(_:into:by:)`, by `rules`.
    package static func merge(
        _ source: ProfileState, into target: inout ProfileState, under rules: BoundRules?
    ) {
        guard let rules, !rules.isEmpty || !source.removals.isEmpty else { return target.merge(source) }
        target.merge(source, under: rules)
    }

    /// Folds one event in.
    package static func apply(_ event: borrowing EventView, to state: inout ProfileState) {
        guard let rules = event.rules else { return fold(event, &state, nil) }
        fold(event, &state, rules.isEmpty && state.removals.isEmpty ? nil : rules)
    }

    /// Adds the item to what waits.
    package static func applyWaiting(_ item: borrowing EventView, to state: inout ProfileState) {
        applyRare(item, &state, nil)
    }

    /// `rules` are nil if there are none: that path pays nothing for them.
    @inline(__always)
    private static func fold(_ event: borrowing EventView, _ state: inout ProfileState, _ rules: BoundRules?) {
        let header = event.header
        let position = event.position
        switch header.kind {
        case .customEventLogged:
            state.note(header, position)
            state.events.prefetch()
            applyCustomEvent(header.body, position.rawValue, fallback: header.recordedAt, &state, rules)
        case .customAttributesChanged:
            state.note(header, position)
            state.fields.prefetch()
            applyEntries(header.body, position.rawValue, fallback: header.recordedAt, &state, custom: true, rules)
        case .userAttributesChanged:
            state.note(header, position)
            state.fields.prefetch()
            applyEntries(header.body, position.rawValue, fallback: header.recordedAt, &state, custom: false, rules)
        case .some, nil: applyRare(event, &state, rules)
        }
    }

    @inline(never)
    private static func applyRare(
        _ event: borrowing EventView, _ state: inout ProfileState, _ rules: BoundRules?
    ) {
        let (header, position) = (event.header, event.position)
        if event.effect != position { return applyEffect(event, &state, rules) }
        state.note(header, position)
        guard let kind = header.kind else { return }
        let role = kind.role
        if case .content(let content, .logged) = role {
            return apply(content, header.body, position.rawValue, fallback: header.recordedAt, &state, rules)
        }
        // There may be many: what was rendered is not read.
        if case .message = role { return }
        if header.isVoiding {
            state.voids += 1
            return
        }
        guard let body = RecordBody(header.body), !body.erased else { return }
        let at = body.occurredAt ?? header.recordedAt
        switch role {
        case .identity(.created):
            state.created = position
            state.see(at)
            for id in body.identities { setAddress(id, position, at, &state) }
        case .identity(.identified):
            state.see(at)
            for id in body.identities { setAddress(id, position, at, &state) }
        case .device(.userChanged): state.see(at)
        case .device(.sessionStarted):
            state.see(at)
            state.sessions.add(at: Timestamp(rawValue: at), position)
        case .content(_, let timing):
            guard let device = body.device else { return }
            state.pending.append(
                .init(
                    position: position.rawValue, kind: kind, savedAt: at,
                    device: Name(String(decoding: device, as: UTF8.self)),
                    storage: StorageCode(appGroup: body.storage, process: body.process), body: Array(header.body),
                    isQueued: timing == .queued))
        case .outcome(.flushed):
            state.takePending(body.rejected.map(\.position))
            if body.isQueued {
                let taken = Set(body.flushed.map(\.rawValue))
                for index in state.pending.indices where taken.contains(state.pending[index].position) {
                    state.pending[index].isQueued = true
                }
            } else {
                end(body.flushed, at, position, &state)
            }
        case .outcome(.sent): end(body.flushed, at, position, &state)
        case .outcome(.discarded):
            state.takePending(body.discarded)
        case .device(.launched):
            state.see(at)
            state.launches.add(at: Timestamp(rawValue: at), position)
        case .identity, .device, .message, .note: break
        }
    }

    /// A user who was created with an e-mail address or a phone number has it as an attribute (spec/rest-api 1.3), and
    /// so keeps it in a merge, after which the ID resolves to no user.
    private static func setAddress(_ id: UserID, _ position: Position, _ at: Int64, _ state: inout ProfileState) {
        let (attribute, text): (StandardAttribute, String)
        switch id {
        case .email(let address) where ContactForm.isEmail(address): (attribute, text) = (.email, address)
        case .phone(let number) where ContactForm.isPhone(number): (attribute, text) = (.phone, number)
        default: return
        }
        state.fields.set(
            FieldKey(standard: UInt32(attribute.rawValue)), .string(text), position: position.rawValue, at: at)
    }

    /// Makes a saved or queued event effective, which waits until its outcome follows.
    private static func applyEffect(
        _ item: borrowing EventView, _ state: inout ProfileState, _ rules: BoundRules?
    ) {
        let header = item.header
        guard case .content(let content, _)? = header.kind?.role, state.waits(item.position) else { return }
        apply(content, header.body, item.position.rawValue, fallback: header.recordedAt, &state, rules)
    }

    /// Gives up `items`, which took effect, and counts them.
    private static func end(
        _ items: [Position], _ at: Int64, _ position: Position, _ state: inout ProfileState
    ) {
        state.takePending(items)
        if !items.isEmpty { state.flushes.add(at: Timestamp(rawValue: at), position, times: UInt64(items.count)) }
    }

    // MARK: - Events

    /// Makes the content of an event effective.
    static func apply(
        _ content: EventRole.Content, _ body: UnsafeRawBufferPointer, _ position: UInt64, fallback: Int64,
        _ state: inout ProfileState, _ rules: BoundRules?
    ) {
        switch content {
        case .customEvent: applyCustomEvent(body, position, fallback: fallback, &state, rules)
        case .customAttributes: applyEntries(body, position, fallback: fallback, &state, custom: true, rules)
        case .userAttributes: applyEntries(body, position, fallback: fallback, &state, custom: false, rules)
        case .purchase: applyPurchase(body, position, fallback: fallback, &state)
        }
    }

    /// A body begins with `occurred_at`, `source` and `name`; a profile does not keep the rest.
    @inline(__always)
    private static func applyCustomEvent(
        _ body: UnsafeRawBufferPointer, _ position: UInt64, fallback: Int64, _ state: inout ProfileState,
        _ rules: BoundRules?
    ) {
        var at = fallback
        var reader = WireReader(body)
        while let field = reader.field() {
            switch field.number {
            case RecordField.occurredAtMilliseconds: at = reader.milliseconds()
            case RecordField.occurredAt: at = reader.signed()
            case RecordField.name:
                let name = UInt32(truncatingIfNeeded: reader.varint())
                if let rules {
                    if rules.blocks(event: name) { return }
                    if let value = rules.orders?.value(of: name, reader.rest) {
                        state.orders.add(value.amount, value.currency)
                    }
                }
                state.see(at)
                state.count(name, Timestamp(rawValue: at), Position(rawValue: position))
                return
            default:
                if field.number > RecordField.name { return }
                reader.skip(field.type)
            }
        }
    }

    @inline(__always)
    private static func applyEntries(
        _ body: UnsafeRawBufferPointer, _ position: UInt64, fallback: Int64, _ state: inout ProfileState, custom: Bool,
        _ rules: BoundRules?
    ) {
        var at = fallback
        var isREST = false
        var reader = WireReader(body)
        while let field = reader.field() {
            switch field.number {
            case RecordField.occurredAtMilliseconds: at = reader.milliseconds()
            case RecordField.occurredAt: at = reader.signed()
            case RecordField.source: isREST = reader.varint() == EventSource.rest.rawValue
            case RecordField.entries:
                applyEntry(reader.bytes(), position, at, &state, custom: custom, subscribes: isREST, rules)
            default:
                if field.number > RecordField.entries {
                    state.see(at)
                    return
                }
                reader.skip(field.type)
            }
        }
        state.see(at)
    }

    @inline(__always)
    private static func applyEntry(
        _ entry: UnsafeRawBufferPointer, _ position: UInt64, _ at: Int64, _ state: inout ProfileState, custom: Bool,
        subscribes: Bool, _ rules: BoundRules?
    ) {
        var reader = WireReader(entry)
        guard let first = reader.field(), first.number == RecordField.Value.name else { return }
        let name = UInt32(truncatingIfNeeded: reader.varint())
        let key = custom ? FieldKey(custom: name) : FieldKey(standard: name)
        if let rules, applyEntry(entry, key, position, at, &state, rules) { return }
        let value = reader.rest
        guard let payload = reader.field() else { return }
        if payload.number != RecordField.Value.null, RecordField.Value.isPayload(payload.number) {
            reader.skip(payload.type)
            if reader.isAtEnd {
                if reader.isBad { return }
                if !custom, subscribes, key == ProfileState.email {
                    state.setEmail(value, position: position, at: at)
                } else {
                    state.fields.set(key, value, position: position, at: at)
                }
                return
            }
        }
        if let named = ValueCodec.read(entry), let operation = AttributeOperation(named.operation, named.value) {
            state.apply(operation, to: key, by: AttributeRule(), position: position, at: at)
        }
    }

    /// Applies an entry by the rule of its attribute; false if there is no rule.
    @inline(never)
    private static func applyEntry(
        _ entry: UnsafeRawBufferPointer, _ key: FieldKey, _ position: UInt64, _ at: Int64, _ state: inout ProfileState,
        _ rules: BoundRules
    ) -> Bool {
        if !rules.hasAttributes, state.removals.isEmpty { return false }
        guard let rule = rules.rule(of: key) ?? state.removals[key].map({ _ in AttributeRule() }) else { return false }
        if let named = ValueCodec.read(entry), let operation = AttributeOperation(named.operation, named.value) {
            state.apply(operation, to: key, by: rule, position: position, at: at)
        }
        return true
    }

    private static func applyPurchase(
        _ body: UnsafeRawBufferPointer, _ position: UInt64, fallback: Int64, _ state: inout ProfileState
    ) {
        state.purchases.prefetch()
        guard let body = RecordBody(body), !body.erased else { return }
        let at = body.occurredAt ?? fallback
        state.see(at)
        let index = state.purchases.lowerBound { $0.product < body.name }
        if index == state.purchases.count || state.purchases[index].product != body.name {
            state.purchases.insert(.init(product: body.name), at: index)
        }
        state.purchases[index].occurrences.add(
            at: Timestamp(rawValue: at), Position(rawValue: position), times: UInt64(body.quantity))
        state.purchases[index].revenue.add(ExactSum(body.price, times: Int64(body.quantity)), body.currency)
    }
}

extension ProfileState {
    /// Notes the last event.
    @inline(__always)
    fileprivate mutating func note(_ header: RecordHeader, _ position: Position) {
        version = Version(rawValue: header.version)
        lastPosition = position
    }

    /// Tells whether the item at `position` waits.
    fileprivate func waits(_ position: Position) -> Bool { pendingIndex(position.rawValue) != nil }

    @inline(__always)
    mutating func count(_ name: UInt32, _ time: Timestamp, _ position: Position) {
        let index = events.lowerBound { $0.name < name }
        if index == events.count || events[index].name != name {
            if events.isEmpty { events.reserveCapacity(4) }
            events.insert(.init(name: name), at: index)
        }
        events[index].occurrences.add(at: time, position)
    }

    /// Makes what waited effective, with the time at which it was saved.
    mutating func flush(_ entry: PendingEntry, under rules: BoundRules? = nil) {
        guard case .content(let content, _) = entry.kind.role else { return }
        entry.body.withUnsafeBytes {
            ProfileProjection.apply(content, $0, entry.position, fallback: entry.savedAt, &self, rules)
        }
    }

    /// Gives up what waits at `positions`, and returns it in their order. An erased item is not there.
    @discardableResult
    package mutating func takePending(_ positions: [Position]) -> [PendingEntry] {
        if positions.isEmpty || pending.isEmpty { return [] }
        var places: [UInt64: Int] = [:]
        if positions.count > 8 {
            for (index, entry) in pending.enumerated() { places[entry.position] = index }
        }
        var gone: Set<Int> = []
        let taken = positions.compactMap { position -> PendingEntry? in
            let place = positions.count > 8 ? places[position.rawValue] : pendingIndex(position.rawValue)
            guard let place, gone.insert(place).inserted else { return nil }
            return pending[place]
        }
        if gone.count == 1, let index = gone.first {
            pending.remove(at: index)
        } else if !gone.isEmpty {
            pending = pending.indices.filter { !gone.contains($0) }.map { pending[$0] }
        }
        return taken
    }

    private func pendingIndex(_ position: UInt64) -> Int? {
        let index = pending.lowerBound { $0.position < position }
        if index < pending.count, pending[index].position == position { return index }
        // Ascending, except where a history is folded in the order of occurrence.
        return pending.lastIndex { $0.position == position }
    }
}
