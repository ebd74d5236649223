internal import ProfileLog
internal import Synchronization

/// The store that an import appends to. A new one is made when there is something to append: an input whose first lines are refused
/// leaves none behind.
final class ImportTarget: Sendable {
    private let make: @Sendable () throws -> EventLog
    private let opened: Mutex<EventLog?>

    /// Opens the store of `option`, unless it is to be made.
    init(_ option: StoreOption) throws {
        make = { try option.open(create: true) }
        opened = Mutex(try StoreFolder(path: option.path) == .vacant ? nil : try option.open(create: true))
    }

    /// The store, made now if it is missing.
    func log() throws -> EventLog {
        try opened.withLock { log in
            if let log { return log }
            let made = try make()
            log = made
            return made
        }
    }

    /// An empty append for it.
    func prepare() -> AppendBuilder { opened.withLock { $0 }?.prepare() ?? AppendBuilder() }
}
