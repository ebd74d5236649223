import ProfileLog

/// Counts a user's events by source.
enum SourceProjection: UserProjection {
    /// The number of events from each source.
    struct State: Hashable, Sendable {
        /// The counts; a source without events has no entry.
        var counts: [EventSource: UInt64] = [:]
    }

    /// The name of its snapshots.
    static let name = "sources"
    /// Raised with the meaning of `apply`.
    static let revision: UInt32 = 1
    /// Nothing folded yet.
    static var initial: State { State() }

    /// Folds one event in, once: what was saved is counted then.
    static func apply(_ event: borrowing EventView, to state: inout State) {
        if event.effect == event.position { applyWaiting(event, to: &state) }
    }

    /// Folds a saved or queued event in.
    static func applyWaiting(_ item: borrowing EventView, to state: inout State) {
        state.counts[item.source, default: 0] += 1
    }

    /// Adds the counts.
    static func merge(_ source: State, into target: inout State, by event: borrowing EventView) {
        target.counts.merge(source.counts, uniquingKeysWith: +)
    }

    /// The counts in the order of the sources.
    static func encode(_ state: State) -> [UInt8] {
        var bytes: [UInt8] = []
        for (source, count) in state.counts.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            bytes.append(source.rawValue)
            withUnsafeBytes(of: count.bigEndian) { bytes.append(contentsOf: $0) }
        }
        return bytes
    }

    /// The state that `encode` wrote; nil if the bytes are invalid.
    static func decode(_ bytes: UnsafeRawBufferPointer) -> State? {
        guard bytes.count % 9 == 0 else { return nil }
        var state = State()
        for offset in stride(from: 0, to: bytes.count, by: 9) {
            guard let source = EventSource(rawValue: bytes[offset]) else { return nil }
            state.counts[source] = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: offset + 1, as: UInt64.self))
        }
        return state
    }
}
