/// Counts a user's events by source: an example of a projection in one file, with public API only.
///
/// Pass it to the log (`EventLog(path:projections: [ProfileProjection.self, SourceProjection.self])`): the log keeps
/// snapshots of it, reads it with `log.state(SourceProjection.self, of: user)` as of any version, `Replayer` replays
/// it, and `check` compares it.
package enum SourceProjection: Projection {
    /// How many events came from each source.
    package struct State: Hashable, Sendable {
        /// The counts; a source without events has no entry.
        package var counts: [EventSource: UInt64] = [:]
    }

    /// The name of its snapshots.
    package static let name = "sources"
    /// Raised with the meaning of `apply`.
    package static let revision: UInt32 = 1
    /// Nothing folded yet.
    package static var initial: State { State() }

    /// Folds one event in.
    package static func apply(_ event: borrowing EventView, to state: inout State) {
        state.counts[event.source, default: 0] += 1
    }

    /// Adds the counts.
    package static func merge(_ source: State, into target: inout State) {
        target.counts.merge(source.counts, uniquingKeysWith: +)
    }

    /// The counts in the order of the sources.
    package static func encode(_ state: State) -> [UInt8] {
        var bytes: [UInt8] = []
        for (source, count) in state.counts.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            bytes.append(source.rawValue)
            withUnsafeBytes(of: count.bigEndian) { bytes.append(contentsOf: $0) }
        }
        return bytes
    }

    /// The state that `encode` wrote; nil if the bytes are invalid.
    package static func decode(_ bytes: UnsafeRawBufferPointer) -> State? {
        guard bytes.count % 9 == 0 else { return nil }
        var state = State()
        for offset in stride(from: 0, to: bytes.count, by: 9) {
            guard let source = EventSource(rawValue: bytes[offset]) else { return nil }
            state.counts[source] = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: offset + 1, as: UInt64.self))
        }
        return state
    }
}
