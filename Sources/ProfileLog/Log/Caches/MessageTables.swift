internal import Synchronization

/// The compiled declarations of in-app messages that devices use now, by position. A declaration never changes.
final class MessageTables: Sendable {
    private struct State {
        var tables: [UInt64: TriggerTable] = [:]
        var newest = Newest()
    }

    /// The newest declaration among the first events without a user.
    struct Newest: Sendable {
        /// The number of these events that were looked at.
        var version: UInt64 = 0
        /// 0 if none of them is a declaration.
        var position: UInt64 = 0
    }

    /// Declarations of the first session if nothing is declared then.
    let standard: AttributeValue
    private static let mostTables = 16
    private let state = Mutex(State())

    init(standard: AttributeValue = .array([])) { self.standard = standard }

    var newest: Newest {
        get { state.withLock { $0.newest } }
        set { state.withLock { $0.newest = newValue } }
    }

    /// The table of the declaration at `position`, by `load` if it is not here.
    func table(_ position: UInt64, _ load: () throws -> TriggerTable) rethrows -> TriggerTable {
        if let known = state.withLock({ $0.tables[position] }) { return known }
        let table = try load()
        state.withLock { state in
            if state.tables.count >= Self.mostTables, let oldest = state.tables.keys.min() {
                state.tables[oldest] = nil
            }
            state.tables[position] = table
        }
        return table
    }
}
