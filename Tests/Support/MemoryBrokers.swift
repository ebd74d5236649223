internal import Foundation
package import ProfileLog
package import ProfileLogReplication
internal import Synchronization

/// The brokers of a cluster in memory: one stream as JetStream keeps it, with the faults that a test asks for.
///
/// `connect(_:)` gives each node a handle. All that is random comes from the seed and the order of the calls. Faults of
/// publishes come from `script` first, then by `chances`.
package final class MemoryBrokers: Sendable {
    /// The fate of a publish.
    package enum PublishFault: Hashable, Sendable, CaseIterable {
        /// The answer is as it should be.
        case none
        /// The message never arrives.
        case lost
        /// The message is stored, and the answer is lost.
        case answerLost
        /// The message is stored, and the answer says that the last sequence was another one.
        case refusedThoughStored
        /// The leader has it without a majority: no answer, and its place counts as taken. Later it is stored, or
        /// another leader drops it.
        case limbo
        /// The message is on its way: no answer. It arrives later, or never if its place was taken.
        case delayed
        /// A message with these bytes is stored: the answer to the first publish comes now, as the answer to this one.
        case secondAnswer
        /// The stream is full.
        case full
        /// The message is stored, and the leader, which has no room, says that the stream is full.
        case fullThoughStored
    }

    /// A fault of the program under test: a checker must find it.
    package enum BrokenBuild: Hashable, Sendable {
        /// The program publishes without the header that has the condition.
        case noCondition
        /// The program takes a message for stored when it was sent, so that the next one is on its way with it.
        case twoInFlight
    }

    /// A message that is not stored yet, and its condition.
    fileprivate struct Proposal: Sendable {
        let message: [UInt8]
        let last: UInt64
        /// The handle that sent it.
        let handle: Int
    }

    /// The messages of a stream, from sequence `first` on.
    fileprivate struct Stream: Sendable {
        let created: String
        var first: UInt64
        /// Only kept: no message is dropped by its age.
        var maxAge: Duration?
        var messages: [[UInt8]] = []

        var last: UInt64 { first + UInt64(messages.count) - 1 }

        subscript(sequence: UInt64) -> [UInt8]? {
            sequence >= first && sequence <= last ? messages[Int(sequence - first)] : nil
        }
    }

    /// A node's connection.
    fileprivate struct Handle: Sendable {
        var broker: Int
        var isCut = false
        var isClosed = false
        /// The last sequence that its reads see, if they see nothing newer.
        var staleEnd: UInt64?
        var onNote: (@Sendable ([UInt8]) -> Void)?
    }

    fileprivate struct State: Sendable {
        var random: SeededGenerator
        var stream: Stream?
        var streamsMade = 0
        var handles: [Handle] = []
        /// The messages that the leader has without a majority, in order.
        var proposals: [Proposal] = []
        /// The messages that are on their way.
        var delayed: [Proposal] = []
        var script: [PublishFault] = []
        var chances: [PublishFault: Int] = [:]
        var mostLag = 0
        /// The isolated brokers, and the last sequence that each knows.
        var isolated: [Int: UInt64] = [:]
        var carriesNotes = true
        var broken: BrokenBuild?
        var clock: (@Sendable () -> Timestamp?) = { nil }
        var faults: [StreamError] = []
        /// A closure for one publish to come, by its number.
        var beforePublish: (number: Int, body: @Sendable () -> Void)?
        var publishes = 0
        var looks = 0
        var holdsLooks = false
    }

    private let state: Mutex<State>
    private let notes = DispatchQueue(label: "memory-brokers.notes")

    /// The number of brokers.
    package static let count = 3

    /// Brokers without a stream.
    package init(seed: UInt64 = 0) { state = Mutex(State(random: SeededGenerator(seed: seed))) }

    /// A connection of the node `name`, which begins at the broker after that of the last one.
    package func connect(_ name: String) -> MemoryStream {
        let handle = state.withLock { state in
            state.handles.append(Handle(broker: state.handles.count % Self.count))
            return state.handles.count - 1
        }
        return MemoryStream(self, handle: handle, name: name)
    }

    // MARK: - What a test asks for

    /// The faults of the next publishes, whichever node sends them; after these they come by `chances`.
    package func script(_ faults: PublishFault...) { state.withLock { $0.script += faults } }

    /// The number of publishes in a thousand that have each fault.
    package var chances: [PublishFault: Int] {
        get { state.withLock { $0.chances } }
        set { state.withLock { $0.chances = newValue } }
    }

    /// The most messages at the end of the stream that a read may not see yet, as from a follower that lags.
    package var mostLag: Int {
        get { state.withLock { $0.mostLag } }
        set { state.withLock { $0.mostLag = newValue } }
    }

    /// The error of the program under test; nil if it has none.
    package var broken: BrokenBuild? {
        get { state.withLock { $0.broken } }
        set { state.withLock { $0.broken = newValue } }
    }

    /// Tells whether notes of the nodes arrive.
    package var carriesNotes: Bool {
        get { state.withLock { $0.carriesNotes } }
        set { state.withLock { $0.carriesNotes = newValue } }
    }

    /// The faults that make the stream unfit, as its nodes are told.
    package var faults: [StreamError] {
        get { state.withLock { $0.faults } }
        set { state.withLock { $0.faults = newValue } }
    }

    /// Sets the brokers' time; they tell none by themselves.
    package func setClock(_ clock: @escaping @Sendable () -> Timestamp?) { state.withLock { $0.clock = clock } }

    /// Sets a closure that is called once, before the publish that is the `count`th from now, on the thread that
    /// publishes. It may let another node be first.
    package func beforePublish(_ count: Int = 1, _ body: @escaping @Sendable () -> Void) {
        state.withLock { $0.beforePublish = ($0.publishes + count, body) }
    }

    /// Cuts a broker off from the others: it answers reads with what it has, and stores nothing.
    package func isolate(broker: Int) { state.withLock { $0.isolated[broker] = $0.stream?.last ?? 0 } }

    /// Ends all faults: what is on its way arrives, what waits for a majority gets it, and every broker is reached.
    package func heal() {
        state.withLock { state in
            (state.script, state.chances, state.mostLag, state.isolated) = ([], [:], 0, [:])
            state.release()
            for index in state.handles.indices {
                (state.handles[index].isCut, state.handles[index].staleEnd) = (false, nil)
            }
        }
    }

    /// Stores what waits for a majority, and lets arrive what is on its way.
    package func release() { state.withLock { $0.release() } }

    /// Another leader: what waits for a majority is dropped.
    package func dropProposals() { state.withLock { $0.proposals = [] } }

    /// Adds a message at the end, as a node of another program could.
    package func inject(_ message: [UInt8]) { state.withLock { $0.stream?.messages.append(message) } }

    /// Removes the messages before `sequence`.
    package func purge(before sequence: UInt64) {
        state.withLock { state in
            guard let stream = state.stream, sequence > stream.first else { return }
            let count = min(Int(sequence - stream.first), stream.messages.count)
            state.stream?.messages.removeFirst(count)
            state.stream?.first += UInt64(count)
        }
    }

    /// Loses the last messages, as brokers do whose disks were lost.
    package func loseLast(_ count: Int) { state.withLock { $0.stream?.messages.removeLast(count) } }

    /// Deletes the stream.
    package func delete() { state.withLock { $0.delete() } }

    /// Makes a stream, if there is none, whose first message is at `first`.
    package func create(first: UInt64 = 1) { state.withLock { $0.create(first: first) } }

    /// The sequence of the last message; 0 if there is no stream.
    package var last: UInt64 { state.withLock { $0.stream?.last ?? 0 } }

    /// The sequence of the first message that is there, or of the next one.
    package var first: UInt64 { state.withLock { $0.stream?.first ?? 0 } }

    /// Tells whether there is a stream.
    package var hasStream: Bool { state.withLock { $0.stream != nil } }

    /// The message at `sequence`; nil if it is not there.
    package func message(at sequence: UInt64) -> [UInt8]? { state.withLock { $0.stream?[sequence] } }

    /// The number of publishes that came, those of unreachable nodes not counted.
    package var publishes: Int { state.withLock { $0.publishes } }

    /// The number of times that a node asked for the stream's state.
    package var looks: Int { state.withLock { $0.looks } }

    /// Tells whether those who ask for the stream's state wait for the answer.
    package var holdsLooks: Bool {
        get { state.withLock { $0.holdsLooks } }
        set { state.withLock { $0.holdsLooks = newValue } }
    }
}

// MARK: - What the handles ask

extension MemoryBrokers {
    private static let unreachable = StreamError(
        .unreachable, "No broker answers.", remedy: "Start the brokers; the node goes on by itself.")
    private static let missing = StreamError(
        .missing, "There is no such stream.", remedy: "Make it again from a node: `profilecli cluster rebuild`.")

    fileprivate func publish(_ message: [UInt8], after last: UInt64, by handle: Int) -> PublishAnswer {
        let hook = state.withLock { state -> (@Sendable () -> Void)? in
            guard state.isReachable(handle) else { return nil }
            state.publishes += 1
            guard let hook = state.beforePublish, hook.number == state.publishes else { return nil }
            state.beforePublish = nil
            return hook.body
        }
        hook?()
        return state.withLock { $0.publish(Proposal(message: message, last: last, handle: handle)) }
    }

    fileprivate func messages(from sequence: UInt64, count: Int, to handle: Int) throws(StreamError) -> [StreamMessage]
    {
        let answer = state.withLock { state -> Result<[StreamMessage], StreamError> in
            guard state.isReachable(handle) else { return .failure(Self.unreachable) }
            state.moveOn()
            guard let stream = state.stream else { return .failure(Self.missing) }
            let end = state.visibleEnd(of: stream, to: handle)
            var (found, bytes, next) = ([StreamMessage](), 0, max(sequence, stream.first))
            while next <= end, found.count < count, bytes < 4_000_000, let message = stream[next] {
                found.append(StreamMessage(sequence: next, bytes: message))
                bytes += message.count
                next += 1
            }
            return .success(found)
        }
        return try answer.get()
    }

    fileprivate func describe(to handle: Int) throws(StreamError) -> StreamState {
        state.withLock { $0.looks += 1 }
        while state.withLock({ $0.holdsLooks }) { Thread.sleep(forTimeInterval: 0.002) }
        let answer = state.withLock { state -> Result<StreamState, StreamError> in
            guard state.isReachable(handle) else { return .failure(Self.unreachable) }
            guard let stream = state.stream else { return .failure(Self.missing) }
            let broker = state.handles[handle].broker
            let last = min(stream.last, state.isolated[broker] ?? .max)
            return .success(
                StreamState(
                    created: stream.created, first: min(stream.first, last + 1), last: last, maxAge: stream.maxAge,
                    time: state.clock(), leader: "broker-0",
                    followers: ["broker-1": state.isolated[broker] == nil, "broker-2": state.isolated[broker] == nil],
                    faults: state.faults))
        }
        return try answer.get()
    }

    fileprivate func create(first: UInt64, by handle: Int) throws(StreamError) {
        let isDone = state.withLock { state in
            guard state.isReachable(handle) else { return false }
            state.create(first: first)
            return true
        }
        if !isDone { throw Self.unreachable }
    }

    fileprivate func keep(for age: Duration?, by handle: Int) throws(StreamError) {
        let isDone = state.withLock { state in
            guard state.isReachable(handle) else { return false }
            state.stream?.maxAge = age
            return true
        }
        if !isDone { throw Self.unreachable }
    }

    fileprivate func delete(by handle: Int) throws(StreamError) {
        let isDone = state.withLock { state in
            guard state.isReachable(handle) else { return false }
            state.delete()
            return true
        }
        if !isDone { throw Self.unreachable }
    }

    fileprivate func changeBroker(of handle: Int) {
        state.withLock { $0.handles[handle].broker = ($0.handles[handle].broker + 1) % Self.count }
    }

    fileprivate func broker(of handle: Int) -> Int? {
        state.withLock { $0.isReachable(handle) ? $0.handles[handle].broker : nil }
    }

    fileprivate func tell(_ note: [UInt8], from handle: Int) {
        let listeners = state.withLock { state -> [@Sendable ([UInt8]) -> Void] in
            let sender = state.handles[handle].broker
            guard state.carriesNotes, state.isReachable(handle) else { return [] }
            return state.handles.indices.compactMap { index in
                let broker = state.handles[index].broker
                let isTold = broker == sender || state.isolated[sender] == nil && state.isolated[broker] == nil
                return isTold && state.isReachable(index) ? state.handles[index].onNote : nil
            }
        }
        if listeners.isEmpty { return }
        notes.async { for listener in listeners { listener(note) } }
    }

    fileprivate func onNote(_ body: @escaping @Sendable ([UInt8]) -> Void, of handle: Int) {
        state.withLock { $0.handles[handle].onNote = body }
    }

    fileprivate func close(_ handle: Int) {
        let released = state.withLock { state in
            state.handles[handle].isClosed = true
            return state.handles[handle].onNote.take()
        }
        withExtendedLifetime(released) {}
    }

    fileprivate func isStale(_ handle: Int) -> Bool { state.withLock { $0.handles[handle].staleEnd != nil } }

    fileprivate func setStale(_ handle: Int, _ isStale: Bool) {
        state.withLock { $0.handles[handle].staleEnd = isStale ? $0.stream?.last ?? 0 : nil }
    }

    fileprivate func isCut(_ handle: Int) -> Bool { state.withLock { $0.handles[handle].isCut } }

    fileprivate func setCut(_ handle: Int, _ isCut: Bool) { state.withLock { $0.handles[handle].isCut = isCut } }
}

// MARK: - The stream's own steps

extension MemoryBrokers.State {
    func isReachable(_ handle: Int) -> Bool { !handles[handle].isCut && !handles[handle].isClosed }

    mutating func publish(_ proposal: MemoryBrokers.Proposal) -> PublishAnswer {
        guard isReachable(proposal.handle) else { return .undecided("no connection") }
        moveOn()
        let fault = nextFault()
        guard let stream else { return .undecided("no responders") }
        if isolated[handles[proposal.handle].broker] != nil { return .undecided("no answer in time") }
        switch fault {
        case .lost: return .undecided("no answer in time")
        case .full: return .full("maximum bytes exceeded")
        case .delayed:
            delayed.append(proposal)
            return .undecided("no answer in time")
        case .secondAnswer where stream[proposal.last + 1] == proposal.message:
            return .stored(sequence: proposal.last + 1)
        case .none, .answerLost, .refusedThoughStored, .limbo, .secondAnswer, .fullThoughStored: break
        }
        if broken == .twoInFlight {
            delayed.append(proposal)
            return .stored(sequence: proposal.last + 1)
        }
        guard fits(proposal) else {
            return .undecided("wrong last sequence: \(stream.last + UInt64(proposals.count))")
        }
        if fault == .limbo {
            proposals.append(proposal)
            return .undecided("no answer in time")
        }
        self.stream?.messages.append(proposal.message)
        switch fault {
        case .answerLost: return .undecided("no answer in time")
        case .refusedThoughStored: return .undecided("wrong last sequence: \(stream.last + 1)")
        case .fullThoughStored: return .full("insufficient resources")
        default: return .stored(sequence: stream.last + 1)
        }
    }

    /// Tells whether the leader takes a message: it counts what waits for a majority too.
    private func fits(_ proposal: MemoryBrokers.Proposal) -> Bool {
        guard let stream else { return false }
        return broken == .noCondition || proposal.last == stream.last + UInt64(proposals.count)
    }

    private mutating func nextFault() -> MemoryBrokers.PublishFault {
        if !script.isEmpty { return script.removeFirst() }
        if chances.isEmpty { return .none }
        var number = random.next(below: 1_000)
        for fault in MemoryBrokers.PublishFault.allCases {
            number -= chances[fault] ?? 0
            if number < 0 { return fault }
        }
        return .none
    }

    /// Time goes by: something that waits may be stored, arrive, or be dropped. What a script made waits for the test.
    mutating func moveOn() {
        if broken == .twoInFlight { return arriveInOrder() }
        if chances.isEmpty { return }
        if !proposals.isEmpty, random.next(below: 4) == 0 {
            if random.next(below: 2) == 0 { proposals = [] } else { storeProposals() }
        }
        if !delayed.isEmpty, random.next(below: 4) == 0 { arrive(random.next(below: delayed.count)) }
    }

    /// Of two messages on their way the older one of a handle arrives first.
    private mutating func arriveInOrder() {
        while !delayed.isEmpty, delayed.count > 3 || random.next(below: 3) == 0 {
            let handle = delayed[random.next(below: delayed.count)].handle
            arrive(delayed.firstIndex { $0.handle == handle } ?? 0)
        }
    }

    private mutating func arrive(_ index: Int) {
        let proposal = delayed.remove(at: index)
        if fits(proposal) { stream?.messages.append(proposal.message) }
    }

    private mutating func storeProposals() {
        stream?.messages += proposals.map(\.message)
        proposals = []
    }

    mutating func release() {
        storeProposals()
        while !delayed.isEmpty { arrive(0) }
    }

    /// The last sequence that a read sees.
    mutating func visibleEnd(of stream: MemoryBrokers.Stream, to handle: Int) -> UInt64 {
        if let known = isolated[handles[handle].broker] { return min(known, stream.last) }
        if let stale = handles[handle].staleEnd { return min(stale, stream.last) }
        if mostLag == 0 { return stream.last }
        let lag = UInt64(random.next(below: mostLag + 1))
        return stream.last > lag ? stream.last - lag : 0
    }

    mutating func create(first: UInt64) {
        if stream != nil { return }
        streamsMade += 1
        stream = MemoryBrokers.Stream(created: "2026-01-01T00:00:00.\(streamsMade)Z", first: first)
    }

    mutating func delete() { (stream, proposals, delayed) = (nil, [], []) }
}

// MARK: - The handle

/// The stream of `MemoryBrokers` as one node sees it.
package final class MemoryStream: BatchStream {
    private let brokers: MemoryBrokers
    private let handle: Int
    /// The name of the node, for the reader of a failed test.
    package let name: String

    fileprivate init(_ brokers: MemoryBrokers, handle: Int, name: String) {
        (self.brokers, self.handle, self.name) = (brokers, handle, name)
    }

    /// Tells whether the node reaches no broker.
    package var isCut: Bool {
        get { brokers.isCut(handle) }
        set { brokers.setCut(handle, newValue) }
    }

    /// Tells whether its reads see nothing that is stored from now on, as at a follower that lags.
    package var isStale: Bool {
        get { brokers.isStale(handle) }
        set { brokers.setStale(handle, newValue) }
    }

    /// The number of the broker that it is connected to; nil if there is none.
    package var brokerNumber: Int? { brokers.broker(of: handle) }

    package func publish(_ message: [UInt8], after last: UInt64, timeout: Duration) -> PublishAnswer {
        let answer = brokers.publish(message, after: last, by: handle)
        // A moment, so that a node that tries again does not spin. Not the whole time: a test has many of these.
        if case .undecided = answer { Thread.sleep(forTimeInterval: 0.0005) }
        return answer
    }

    package func messages(from sequence: UInt64, count: Int) throws(StreamError) -> [StreamMessage] {
        try brokers.messages(from: sequence, count: count, to: handle)
    }

    package func state() throws(StreamError) -> StreamState { try brokers.describe(to: handle) }
    package func glance() throws(StreamError) -> StreamState {
        var state = try state()
        state.faults = []
        return state
    }

    package func create(first: UInt64) throws(StreamError) { try brokers.create(first: first, by: handle) }
    package func keep(for age: Duration?) throws(StreamError) { try brokers.keep(for: age, by: handle) }
    package func delete() throws(StreamError) { try brokers.delete(by: handle) }
    package func changeBroker() { brokers.changeBroker(of: handle) }
    package func tell(_ note: [UInt8]) { brokers.tell(note, from: handle) }
    package func onNote(_ body: @escaping @Sendable ([UInt8]) -> Void) { brokers.onNote(body, of: handle) }
    package var broker: String? { brokerNumber.map { "broker-\($0):4222" } }
    package func close() { brokers.close(handle) }
}
