/// A device on which a commit decides one step after another: its state after the records so far, and its items in the
/// order in which they are handed over and sent.
///
/// Without it each step would read all items of the device and search them for the next ones.
struct KeptDevice {
    let name: Name
    private(set) var state: DeviceState
    /// The canonical users of items whose users were merged away.
    private(set) var owners: [UInt64: UInt64]
    /// Storages of its items, also of those that are gone.
    private var storages: Set<StorageCode>
    private var due: Chunks?
    private var queue: Chunks?
    private var hasQueue: Bool?
    /// The number of times that all items were searched.
    private(set) var searches = 0

    /// The rest of a search: items that go together, the next ones first.
    private struct Chunks {
        let limit: Int
        var left: ArraySlice<[PendingItem]>
    }

    init(_ name: Name, _ state: DeviceState, owners: [UInt64: UInt64]) {
        (self.name, self.state, self.owners) = (name, state, owners)
        storages = Set(state.items.values.map(\.storage))
    }

    /// The storages of its items that the app sees. `names` are those of their numbers.
    func visible(_ names: NameMap) -> Set<StorageCode> {
        storages.filter { state.settings.appSees($0.storage(names.name)) }
    }

    /// The machine for a flush of at most `limit` items, which knows the next ones.
    mutating func machineForFlush(_ visible: Set<StorageCode>, limit: Int, now: Int64) -> Device {
        var machine = Device(state: state, now: now, owners: owners)
        let due = Self.next(&due, limit, state, &searches) { machine.dueChunks(visible, limit: limit) }
        if hasQueue == nil {
            searches += 1
            hasQueue = machine.hasQueue
        }
        machine.next = .init(due: due, queue: [], hasQueue: hasQueue ?? false)
        return machine
    }

    /// The machine for a sending of at most `limit` items, which knows the next ones.
    mutating func machineForSending(limit: Int, now: Int64) -> Device {
        var machine = Device(state: state, now: now, owners: owners)
        let queue = Self.next(&queue, limit, state, &searches) { machine.queueChunks(limit: limit) }
        machine.next = .init(due: [], queue: queue, hasQueue: !queue.isEmpty)
        return machine
    }

    /// The first of `chunks` that is as it was found. What is gone is passed; if a part of one is, `search` finds them
    /// again.
    private static func next(
        _ chunks: inout Chunks?, _ limit: Int, _ state: DeviceState, _ searches: inout Int,
        _ search: () -> [[PendingItem]]
    ) -> [PendingItem] {
        func found() -> Chunks {
            searches += 1
            return Chunks(limit: limit, left: search()[...])
        }
        var known = chunks ?? found()
        if known.limit != limit { known = found() }
        defer { chunks = known }
        while let chunk = known.left.first {
            let left = chunk.count { state.items[$0.position] == $0 }
            if left == chunk.count { return chunk }
            if left > 0 { known = found() } else { known.left.removeFirst() }
        }
        return []
    }

    mutating func apply(_ change: DeviceChange) {
        switch change {
        case .saved(let item):
            storages.insert(item.storage)
            if item.queued == nil { due = nil } else { (queue, hasQueue) = (nil, true) }
        case .handed(let positions, _): if !positions.isEmpty { (queue, hasQueue) = (nil, true) }
        case .sent(let positions, _), .gone(let positions):
            if hasQueue == true, positions.contains(where: { state.items[$0]?.queued != nil }) { hasQueue = nil }
        case .user, .merged, .launched, .removed, .settings: (due, queue, hasQueue) = (nil, nil, nil)
        case .flushed, .left, .sessionStarted, .sessionEnded, .push, .inApp: break
        }
        state.apply(change)
    }
}
