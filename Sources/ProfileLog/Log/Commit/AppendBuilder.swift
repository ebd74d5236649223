/// Validates and encodes the events of one append, on the caller's thread: ``EventLog/append(idempotencyKey:note:_:)``
/// lends one.
public struct AppendBuilder: ~Copyable {
    /// The names known when the builder was made. The commit encodes events that use later ones.
    private var names: NameMap
    private var append = PreparedAppend(.events)
    private var writer = WireWriter()

    /// Writes for a log that is not open yet: the commit gives the names their numbers.
    package init() { self.init(names: NameTable(), capacity: 1) }

    init(names: NameTable, capacity: Int) {
        self.names = names.current
        append.table = names
        append.items.reserveCapacity(capacity)
        append.targets.reserveCapacity(capacity)
        writer.reserve(capacity * 128)
    }

    /// The number of events added.
    package var count: Int { append.items.count }
    /// Tells whether there is nothing to store, not even that something was skipped.
    package var isEmpty: Bool { count == 0 && append.leftOut.isEmpty && append.systemSteps.isEmpty }
    /// The most events that are stored before the steps of the system: an item may make a user and join a device.
    package var mostEventsOfUsers: Int { 3 * count + append.leftOut.count }
    /// Bytes that they take.
    package var byteCount: Int { writer.count + append.extraBytes }

    /// Adds `event` of `user`. An unknown user is created if the ID can make one. Only saved and logged events can be
    /// added; the log makes all others.
    public mutating func add(
        _ event: ProfileEvent, to user: UserID, context: EventContext = .app
    ) throws(AppendError) {
        try add(event, context, to: user)
    }

    /// As ``add(_:to:context:)``.
    package mutating func add(_ event: ProfileEvent, _ context: EventContext, to user: UserID) throws(AppendError) {
        try Validation.check(user)
        try Validation.check(event, context)
        guard count < Limits.eventsPerAppend else { throw .tooLarge(limit: "\(Limits.eventsPerAppend) events") }
        let before = extent
        let target = addTarget(user)
        let begin = writer.count
        let isEncoded = EventEncoder.write(event, context, names: &names, to: &writer)
        if !isEncoded {
            var longest = LongestNumbers()
            _ = EventEncoder.write(event, context, names: &longest, to: &writer)
        }
        let size = writer.count - begin
        guard size <= Limits.bytesPerEvent else {
            takeBack(to: before)
            throw .invalid(place: "The event", reason: "must not be larger than \(Limits.bytesPerEvent) bytes")
        }
        guard byteCount <= Limits.bytesPerAppend else {
            takeBack(to: before)
            throw .tooLarge(limit: "\(Limits.bytesPerAppend) bytes")
        }
        if !isEncoded {
            writer.truncate(to: begin)
            append.deferred[count] = .init(event: event, context: context)
            append.extraBytes += size
        }
        if let device = context.device { append.devices[count] = Name(device) }
        append.items.append(.init(target: target, kind: event.kind, body: begin..<writer.count))
    }

    /// An event of an import, with the user it is about, and when it was recorded, unless the commit decides that.
    package typealias Imported = (event: ProfileEvent, context: EventContext, user: UserID, recordedAt: Timestamp?)

    /// Adds all `events`, or none of them if one cannot be stored.
    ///
    /// All events of an append have a time of recording, in ascending order, or none has. The commit refuses times
    /// before the last event of the log, and after its clock.
    package mutating func add(_ events: [Imported]) throws(AppendError) {
        let before = extent
        do throws(AppendError) {
            for event in events {
                try add(event.event, event.context, to: event.user)
                if let time = event.recordedAt { append.recordedTimes.append(time) }
            }
        } catch {
            takeBack(to: before)
            append.recordedTimes.removeLast(max(0, append.recordedTimes.count - before.items))
            throw error
        }
    }

    /// Adds all `events` of `user`, or none of them if one cannot be stored.
    ///
    /// - Parameter holder: the user who has the address `user`. Under a key the append stays the same when that is
    ///   another one.
    package mutating func add(
        _ events: [ProfileEvent], _ context: EventContext, to user: UserID, holder: UserID? = nil
    ) throws(AppendError) {
        let before = extent
        do throws(AppendError) {
            for event in events {
                try add(event, context, to: user)
                append.targets[append.targets.count - 1].holder = holder
            }
        } catch {
            takeBack(to: before)
            throw error
        }
    }

    /// The size of an append.
    private struct Extent {
        let items: Int
        let targets: Int
        let bytes: Int
        let extraBytes: Int
    }

    private var extent: Extent {
        Extent(items: count, targets: append.targets.count, bytes: writer.count, extraBytes: append.extraBytes)
    }

    /// Removes what was added after the append had this extent.
    private mutating func takeBack(to extent: Extent) {
        for item in extent.items..<count {
            append.deferred[item] = nil
            append.devices[item] = nil
        }
        append.items.removeSubrange(extent.items...)
        append.targets.removeSubrange(extent.targets...)
        append.extraBytes = extent.extraBytes
        writer.truncate(to: extent.bytes)
    }

    /// Placeholder for numbers that only the commit can give. It is the largest number, so the size of an event that
    /// waits for one is an upper bound.
    private struct LongestNumbers: NameNumbering {
        mutating func number(_ name: borrowing Name) -> UInt32? { .max }
    }

    private mutating func addTarget(_ user: borrowing UserID) -> Int {
        let last = append.targets.count - 1
        if last >= 0, append.targets.span[last].id.isSame(as: user) { return last }
        let begin = writer.count
        switch user {
        case .externalID(let id) where id.utf8.count <= KeyCoding.longestPlainIdentifier:
            writer.byte(user.kindNumber)
            id.withRawUTF8 { writer.raw($0) }
        default: addUncommonKey(copy user)
        }
        append.targets.append(.init(id: copy user, key: begin..<writer.count))
        return last + 1
    }

    private mutating func addUncommonKey(_ user: UserID) {
        if let key = KeyCoding.identifier(user) { key.withUnsafeBytes { writer.raw($0) } }
        append.extraBytes += user.parts.reduce(0) { $0 + $1.utf8.count }
    }

    /// Adds that a request skipped `items`: an event of `user`, or of the system if there is no such user when it is
    /// stored.
    ///
    /// It makes no user. Its fields' names are kept only with a user, so that they can be erased with them.
    package mutating func leaveOut(_ items: [ObjectRefusal], of user: UserID?) throws(AppendError) {
        if let user { try Validation.check(user) }
        let size = items.reduce(0) { $0 + 24 + $1.list.utf8.count + $1.reason.utf8.count + ($1.field ?? "").utf8.count }
        try addExtra(size)
        append.leftOut.append((user, items))
    }

    /// Counts `size` bytes that the commit encodes, if event and append may be so large.
    private mutating func addExtra(_ size: Int) throws(AppendError) {
        guard size <= Limits.bytesPerEvent else {
            throw .invalid(place: "The event", reason: "must not be larger than \(Limits.bytesPerEvent) bytes")
        }
        guard byteCount + size <= Limits.bytesPerAppend else {
            throw .tooLarge(limit: "\(Limits.bytesPerAppend) bytes")
        }
        append.extraBytes += size
    }

    /// Adds a step of a message that is no user's: an event of the system, which no erasure reaches. It must hold
    /// nothing about a person.
    package mutating func addOfSystem(_ step: MessageStep) throws(AppendError) {
        try Validation.check(.message(step), EventContext(source: .rest))
        var writer = WireWriter()
        var longest = LongestNumbers()
        _ = EventEncoder.write(.message(step), EventContext(source: .rest), names: &longest, to: &writer)
        try addExtra(writer.count)
        append.systemSteps.append(step)
    }

    /// Has the append refused unless `user` is at `version`, before any of its events.
    public mutating func expect(_ user: UserID, at version: ExpectedVersion) { append.expect(user, at: version) }

    /// The append, to be committed under `key` if it has one. `note` is given back with every answer under that key. It
    /// is kept with the first event until that is erased, even if other events of the append are: it should hold no
    /// personal value.
    package consuming func finish(
        idempotencyKey key: String? = nil, note: [UInt8] = []
    ) throws(AppendError) -> PreparedAppend {
        try finish(idempotencyKey: key, note: note, content: [])
    }

    /// As ``finish(idempotencyKey:note:)``. Two appends under one key are the same if their `content` is, a hash of 16
    /// bytes; if that is empty, if they say the same of the same users.
    package consuming func finish(
        idempotencyKey key: String?, note: [UInt8], content: [UInt8]
    ) throws(AppendError) -> PreparedAppend {
        let key = try PreparedAppend.checked(key: key ?? "")
        var finished = PreparedAppend(.events)
        swap(&finished, &append)  // to return the field itself would copy it
        finished.bytes = Array(writer.bytes)
        finished.names = names
        finished.idempotencyKey = key
        (finished.note, finished.content) = (note, content)
        if !key.isEmpty, content.isEmpty, finished.deferred.isEmpty { finished.preparedHash = finished.contentHash }
        return finished
    }
}
