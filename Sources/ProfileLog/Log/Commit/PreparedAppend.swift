/// Something to store whole or not at all: events, encoded and validated before the commit, or an intent (a launch, a
/// flush) that the commit decides.
package struct PreparedAppend: Sendable {
    /// Indirect: most appends are events, and each is moved and copied several times on its way to the commit.
    indirect enum Intent: Sendable {
        case events
        case device(Name, DeviceIntent, EventContext)
        case inApp(Name, InAppAction, EventContext)
        /// The definitions of in-app messages.
        case messages(AttributeValue)
        case rules(FoldRules, EventContext)
        case identity(IdentityChange, EventContext)
        case discard(device: Name, selection: PendingSelection, actor: String, reason: String, context: EventContext)
        case void(VoidRequest, EventContext)
    }

    struct Target: Sendable {
        let id: UserID
        /// The key in `identifiers`; empty for IDs that have no row.
        let key: Range<Int>
        /// The ID of the resolved user, if `id` is an address that leads to another one.
        var holder: UserID?
    }

    struct Item: Sendable {
        let target: Int
        let kind: EventKind
        let body: Range<Int>
    }

    /// An event with a name that had no number when it was prepared: encoded by the commit.
    struct Deferred: Sendable {
        let event: ProfileEvent
        let context: EventContext
    }

    let intent: Intent
    var bytes: [UInt8] = []
    /// The names whose numbers are in `bytes`.
    var names: NameMap?
    /// The table that gave them their numbers. Another log has other numbers, even a copy.
    var table: NameTable?
    var targets: [Target] = []
    var items: [Item] = []
    var deferred: [Int: Deferred] = [:]
    /// The devices on which items are saved or logged, by item.
    var devices: [Int: Name] = [:]
    /// The time at which each item was recorded, ascending; empty if the commit decides that, as it does but for an
    /// import of a past.
    var recordedTimes: [Timestamp] = []
    /// Objects that the request skipped. It is stored after all items, in the user's stream if the user exists then.
    var leftOut: [(user: UserID?, items: [ObjectRefusal])] = []
    /// Steps of messages that are no user's. They are stored last, in the stream of the system.
    var systemSteps: [MessageStep] = []
    /// Checked under the write lock.
    private(set) var preconditions = Preconditions()
    /// Addresses that still resolve to users who have another one now. This append releases them for new users.
    private(set) var releases: [UserID] = []
    var idempotencyKey: [UInt8] = []
    /// The hash by which two appends under one key are the same, if that is not `contentHash`; else empty.
    var content: [UInt8] = []
    /// Tells whether it is events, and no request that has a hash of its own.
    var hasPlainContent: Bool { if case .events = intent { content.isEmpty } else { false } }
    /// `contentHash`, if it was computed before the commit, on the caller's thread.
    var preparedHash: [UInt8]?
    var note: [UInt8] = []
    /// Upper bound of what the commit encodes besides `bytes`: deferred events, and IDs of which `bytes` has only a
    /// hash.
    var extraBytes = 0

    /// Upper bound of the bytes in a commit: each event and each new user has a header and a checksum.
    var byteCount: Int {
        bytes.count + extraBytes + 64 * (items.count + targets.count + leftOut.count + systemSteps.count)
            + idempotencyKey.count + note.count + releases.reduce(0) { $0 + 64 + $1.parts[0].utf8.count }
    }

    init(_ intent: Intent) { self.intent = intent }

    /// Refuses the append at commit time unless `preconditions` hold, and releases the addresses `releases`.
    ///
    /// The releasing events come before the append's own and are not in its receipt.
    package mutating func require(_ preconditions: Preconditions, releasing releases: [UserID] = []) {
        self.preconditions.formUnion(preconditions)
        self.releases += releases
    }

    mutating func expect(_ user: UserID, at version: ExpectedVersion) { preconditions.expect(user, at: version) }

    /// The hash of the content, by which two appends are the same: users, kinds and contents, in this order. Deferred
    /// events are not in it.
    var contentHash: [UInt8] {
        var content: [UInt8] = []
        content.reserveCapacity(bytes.count + items.count * 12)
        for item in items {
            let target = targets[item.target]
            content.append(target.id.kindNumber)
            if target.key.isEmpty {
                let id = Array(target.id.parts[0].utf8)
                content.appendBigEndian(UInt32(id.count))
                content += id
            } else {
                content.appendBigEndian(UInt32(target.key.count))
                content += bytes[target.key]
            }
            content.append(item.kind.rawValue)
            content.appendBigEndian(UInt32(item.body.count))
            content += bytes[item.body]
        }
        return KeyCoding.hash(content)
    }

    /// Stores for the users with these IDs what was prepared for an address. It stays the same append.
    package mutating func redirect(_ holders: [UserID: UserID]) {
        for index in targets.indices { targets[index].holder = holders[targets[index].id] }
    }

    /// Splits the append: its first `count` events under its own key, and the others under `restKey`, without expected
    /// versions. The first part is the same append as one prepared from those events only.
    package func split(
        at count: Int, restKey: String
    ) throws(AppendError) -> (beginning: PreparedAppend, rest: PreparedAppend) {
        var (beginning, rest) = (events(0..<count), events(count..<items.count))
        (beginning.idempotencyKey, beginning.note, beginning.preconditions) = (idempotencyKey, note, preconditions)
        (beginning.content, beginning.releases) = (content, releases)
        (rest.leftOut, rest.systemSteps) = (leftOut, systemSteps)
        rest.idempotencyKey = try Self.checked(key: restKey)
        return (beginning, rest)
    }

    /// The events of the append at these places as one under `key`: the same as if it was prepared from them alone.
    package func part(_ places: Range<Int>, key: String) throws(AppendError) -> PreparedAppend {
        var part = events(places)
        part.idempotencyKey = try Self.checked(key: key)
        return part
    }

    /// The events at these places, with the users of those alone: resolving others could refuse the append.
    private func events(_ places: Range<Int>) -> PreparedAppend {
        var part = PreparedAppend(intent)
        (part.table, part.names) = (table, names)
        guard let first = places.first, let last = places.last else { return part }
        let targets = items[first].target...items[last].target
        part.targets = self.targets[targets].map { target in
            Target(id: target.id, key: part.append(bytes[target.key]), holder: target.holder)
        }
        part.items = items[places].map { item in
            Item(
                target: item.target - targets.lowerBound, kind: item.kind, body: part.append(bytes[item.body]))
        }
        for place in places {
            if let event = deferred[place] { part.deferred[place - first] = event }
            if let device = devices[place] { part.devices[place - first] = device }
        }
        if !recordedTimes.isEmpty { part.recordedTimes = Array(recordedTimes[places]) }
        part.extraBytes = extraBytes
        return part
    }

    private mutating func append(_ more: ArraySlice<UInt8>) -> Range<Int> {
        let begin = bytes.count
        bytes += more
        return begin..<bytes.count
    }

    /// The bytes of an idempotency key, which may not be too long.
    static func checked(key: String) throws(AppendError) -> [UInt8] {
        let key = Array(key.utf8)
        guard key.count <= Limits.bytesPerKey else {
            throw .invalid(place: "The idempotency key", reason: "must not be longer than \(Limits.bytesPerKey) bytes")
        }
        return key
    }

    /// An append that applies `intent` to `device`.
    static func device(
        _ device: String, _ intent: DeviceIntent, _ context: EventContext
    ) throws(AppendError) -> PreparedAppend {
        try Validation.check(device: device)
        try Validation.check(time: context.occurredAt)
        return PreparedAppend(.device(Name(device), intent, context))
    }

    /// An append that declares the in-app messages of the workspace: a session that starts from then on has these.
    /// `definitions` is a list that `InAppMessage.list` accepts. Stores nothing if they are declared already.
    package static func messages(_ definitions: AttributeValue) -> PreparedAppend {
        PreparedAppend(.messages(definitions))
    }

    /// An append by which `action` happens on `device`. Its receipt has the steps that follow.
    ///
    ///     try log.commit(.inApp(.close, on: "phone"))
    package static func inApp(
        _ action: InAppAction, on device: String, context: EventContext = EventContext(source: .app)
    ) throws(AppendError) -> PreparedAppend {
        try Validation.check(device: device)
        try Validation.check(time: context.occurredAt)
        return PreparedAppend(.inApp(Name(device), action, context))
    }

    /// An append that discards `selection` on `device`. `actor` and `reason` have 1 to 1,024 bytes each. The actors
    /// `SDK` and `iOS` are refused: they are the device itself.
    package static func discard(
        device: String, _ selection: PendingSelection, actor: String, reason: String, context: EventContext
    ) throws(AppendError) -> PreparedAppend {
        try Validation.check(device: device)
        try Validation.check(time: context.occurredAt)
        try check(actor: actor, reason: reason)
        if actor == Discard.sdk || actor == Discard.system {
            throw .invalid(place: "The actor", reason: "must not be \(actor): that is the device itself")
        }
        return PreparedAppend(
            .discard(device: Name(device), selection: selection, actor: actor, reason: reason, context: context))
    }

    /// Refuses an actor or a reason that is empty or too long to stay in the log.
    static func check(actor: String, reason: String) throws(AppendError) {
        for (place, text) in [("The actor", actor), ("The reason", reason)] where !(1...1_024 ~= text.utf8.count) {
            throw .invalid(place: place, reason: "must have 1 to 1024 bytes")
        }
    }
}

/// A selection of the items that wait on a device.
package enum PendingSelection: Hashable, Sendable {
    case all
    case storage(DeviceStorage)
    case positions(Set<Position>)
}
