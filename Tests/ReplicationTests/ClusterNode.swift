import ProfileLog
import ProfileLogReplication
import TestSupport
import Testing

/// A node in this process: its store, its replica and its log, on a handle of the brokers.
///
/// What blocks runs on threads of its own, so that other tests go on.
final class ClusterNode: Sendable {
    let name: String
    let folder: TemporaryFolder
    let stream: MemoryStream
    let replica: Replica
    let log: EventLog
    let writer: LogWriter

    /// The ways in which a test lets a node differ from others.
    struct Setup: Sendable {
        var options = LogOptions()
        var deadline = Duration.seconds(10)
        /// The time for which a start listens for another node of its name.
        var listening = Duration.zero
        var pollInterval = Duration.milliseconds(4)
        var mostBytes: Int?
        /// The time between two looks at a stream with which nothing is wrong.
        var checkInterval = Duration.seconds(60)
        /// The longest wait for the first message of a stream.
        var joining = Duration.seconds(10)
        /// The node reaches no broker.
        var isCut = false
        /// Makes the transport of its log from the replica.
        var transport: @Sendable (Replica) -> any CommitTransport = { $0 }
    }

    private init(_ name: String, _ brokers: MemoryBrokers, _ folder: TemporaryFolder, _ setup: Setup) throws {
        var settings = ReplicaSettings(name: name, url: "http://\(name):8080")
        settings.deadline = setup.deadline
        settings.listening = setup.listening
        settings.publishTimeout = .milliseconds(50)
        settings.pollInterval = setup.pollInterval
        settings.checkInterval = setup.checkInterval
        settings.joining = setup.joining
        if let mostBytes = setup.mostBytes { settings.mostBytes = mostBytes }
        let stream = brokers.connect(name)
        stream.isCut = setup.isCut
        let replica = try Replica.open(stream, settings, folder: folder.path)
        var options = setup.options
        options.transport = setup.transport(replica)
        let log = try EventLog(path: folder.path, create: true, options: options, creation: replica.creation)
        (self.name, self.folder, self.stream, self.replica, self.log) = (name, folder, stream, replica, log)
        writer = LogWriter(log)
        try replica.start(log)
    }

    /// Starts a node of the cluster of `brokers`. Its store is in `folder`, and made if it is missing.
    static func start(
        _ name: String, of brokers: MemoryBrokers, in folder: TemporaryFolder? = nil, _ setup: Setup = Setup()
    ) async throws -> ClusterNode {
        let folder = folder ?? TemporaryFolder(prefix: "node-\(name)")
        return try await onOwnThread { try ClusterNode(name, brokers, folder, setup) }
    }

    /// Starts two nodes, `a` and `b`.
    static func startTwo(
        of brokers: MemoryBrokers, _ setup: Setup = Setup()
    ) async throws -> (a: ClusterNode, b: ClusterNode) {
        async let a = start("a", of: brokers, setup)
        async let b = start("b", of: brokers, setup)
        return try await (a, b)
    }

    deinit { endNow() }

    private func endNow() {
        replica.stop()
        log.close()
    }

    /// Ends the node as an operator does.
    func end() async throws {
        try await onOwnThread { self.replica.stop() }
        await writer.close()
        try await onOwnThread { self.log.close() }
    }

    /// Ends the node as a kill does: nothing leaves it any more.
    func kill() async throws {
        stream.isCut = true
        try await end()
    }

    // MARK: - Appending

    /// Appends one event with this name, on a thread of its own.
    @discardableResult
    func append(
        _ name: String, to user: UserID = .externalID("ana"), expecting expected: ExpectedVersion = .any,
        key: String? = nil
    ) async throws -> AppendReceipt {
        try await onOwnThread { try self.appendNow(name, to: user, expecting: expected, key: key) }
    }

    /// As `append`, on this thread: for a closure of the brokers.
    @discardableResult
    func appendNow(
        _ name: String, to user: UserID = .externalID("ana"), expecting expected: ExpectedVersion = .any,
        key: String? = nil
    ) throws(AppendError) -> AppendReceipt {
        try log.append([.happened(name)], to: user, expecting: expected, idempotencyKey: key)
    }

    /// The error of an append of one event; nil if it was stored.
    func refusal(of name: String, key: String? = nil) async throws -> AppendError? {
        try await onOwnThread { () -> AppendError? in
            do throws(AppendError) { try self.appendNow(name, key: key) } catch { return error }
            return nil
        }
    }

    // MARK: - What it has

    /// The last sequence that its store has; 0 without one.
    var sequence: UInt64 { (try? log.reader.replicaPosition()?.sequence) ?? 0 }

    /// Each event's position, by the name of a custom event.
    func positions() throws -> [String: [Position]] {
        var found: [String: [Position]] = [:]
        let last = try log.lastPosition().rawValue
        for number in 0..<last {
            let position = Position(rawValue: number + 1)
            guard case .customEventLogged(let event)? = try log.event(at: position)?.event else { continue }
            found[event.name.text, default: []].append(position)
        }
        return found
    }

    /// The rows of the tables that all nodes have alike.
    func truth() throws -> [Table.Name: [[UInt8]: [UInt8]]] {
        var rows: [Table.Name: [[UInt8]: [UInt8]]] = [:]
        for table in Table.Name.allCases where table.isTruth { rows[table] = try log.rows(table) }
        return rows
    }

    /// Waits until `condition` holds; tells whether it came to that within a minute, after which a test that fails ends.
    func wait(until condition: @Sendable (ClusterNode) -> Bool) async throws -> Bool {
        for _ in 0..<20_000 {
            if condition(self) { return true }
            try await Task.sleep(for: .milliseconds(3))
        }
        return false
    }

    /// Waits until it has batch `sequence`, and knows what became of its own.
    func wait(for sequence: UInt64) async throws -> Bool {
        try await wait { $0.sequence >= sequence && !$0.replica.status.hasUndecided }
    }

    /// Waits until it takes no writes, and returns the reason.
    func waitForRefusal() async throws -> StreamError? {
        _ = try await wait { $0.replica.status.refusal != nil }
        return replica.status.refusal
    }
}

extension ProfileEvent {
    /// A custom event that is effective at once.
    static func happened(_ name: String) -> ProfileEvent { .customEventLogged(CustomEvent(name: Name(name))) }

    /// A custom event that waits for a launch.
    static func saved(_ name: String) -> ProfileEvent { .customEventSaved(CustomEvent(name: Name(name))) }
}

extension EventContext {
    /// The context of items that an extension saves on `device`.
    static func saving(on device: String) -> EventContext {
        EventContext(
            source: .extension, process: "push", device: device, storage: .appGroup("group.test"))
    }
}

extension UserID {
    static let ana = UserID.externalID("ana")
    static let bo = UserID.externalID("bo")
}

extension AppendError {
    /// Tells whether the node takes no writes now.
    var isUnavailable: Bool { if case .unavailable = self { true } else { false } }
    /// The reason why the node takes no writes now.
    var unavailableReason: String? { if case .unavailable(let reason, _) = self { reason } else { nil } }
}
