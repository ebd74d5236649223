/// Reads the log, for what answers questions.
///
/// An answer is often made of several reads, and must be of one moment: no commit of another writer may come between
/// them. So ``EventLog/withReader(_:)`` lends a reader whose reads are all of one view. ``EventLog/reader`` opens a
/// view for each read, and is for what follows the log while it grows.
///
/// ```swift
/// let (user, waiting) = try log.withReader { log in
///     (try log.users.find(id), try log.devices.pending(on: "phone"))
/// }
/// ```
package struct LogReader {
    /// The store that it reads.
    package let store: OpenStore
    /// The states of projections, by view.
    package let states: StateStore
    /// The computed traits that conditions may name, as the lender declares them.
    package var traits: [ComputedTrait] = []
    /// The view of all reads; nil to open one for each.
    private let view: LogView?

    init(_ store: OpenStore, _ states: StateStore, _ view: LogView? = nil) {
        (self.store, self.states, self.view) = (store, states, view)
    }

    /// Runs `body` on the reader's view, or on a new one.
    package func withView<Result>(_ body: (LogView) throws -> Result) throws -> Result {
        if let view { try body(view) } else { try store.withView(body) }
    }

    /// The options with which the store was opened.
    package var options: LogOptions { store.options }
    /// The names of the log, by number.
    package var names: NameTable { store.names }
    /// The store's own ID, made with it.
    package var storeID: [UInt8] { store.storeID }

    // MARK: - Readers

    /// Users as they are now.
    package var users: UserReader { UserReader(log: self) }
    /// Users by e-mail address and phone number.
    package var addresses: AddressReader { AddressReader(log: self) }
    /// Users by the beginnings of their identifiers and addresses.
    package var identifiers: IdentifierReader { IdentifierReader(log: self) }
    /// Events of one user, or of all.
    package var events: EventReader { EventReader(log: self) }
    /// Occurrences that took effect: computed traits and series are made of them.
    package var occurrences: OccurrenceReader { OccurrenceReader(log: self) }
    /// Devices, and what is on them.
    package var devices: DeviceReader { DeviceReader(log: self) }
    /// The outcomes of saved items, and the parts of requests that were skipped.
    package var items: ItemReader { ItemReader(log: self) }
    /// The log as of earlier moments.
    package var past: PastReader { PastReader(log: self) }

    // MARK: - The log

    /// Position of the last event; 0 in an empty log.
    package func lastPosition() throws -> Position {
        try view.map { Position(rawValue: $0.last) } ?? store.lastPosition()
    }

    /// As ``EventLog/event(at:)``.
    package func event(at position: Position) throws -> RecordedEvent? {
        guard position > .start else { return nil }
        return try events.page(from: position, limit: 1, scanLimit: 1).events.first
    }

    /// The number of `name`, under which occurrences have it; nil if nothing acknowledged has the name.
    package func number(of name: Name) throws -> UInt32? { try withView { _ in names.number(name) } }

    // MARK: - States

    /// The state of a projection for one user, as of `version` (or now).
    package func state<P: UserProjection>(
        _: P.Type, of user: UserNumber, asOf version: Version = Version(rawValue: .max)
    ) throws -> P.State {
        try P.checkName()
        return try withView { view in
            let now = try view.version(of: user.rawValue)
            return try states.state(P.self, user.rawValue, version: min(now, version.rawValue), view)
        }
    }

    /// The state of the user's profile, as of `version` (or now).
    package func profile(of user: UserNumber, asOf version: Version = Version(rawValue: .max)) throws -> ProfileState {
        // By way of a variable: as a result, each generic function on the way would move this large state.
        var state = ProfileProjection.initial
        try withView { view in
            let now = try view.version(of: user.rawValue)
            state = try states.state(ProfileProjection.self, user.rawValue, version: min(now, version.rawValue), view)
        }
        return state
    }

    /// The state of a projection over the whole store, and the position that it has reached: the end of the reader's
    /// view, or `position`.
    package func state<P: StoreProjection>(
        overStore _: P.Type, asOf position: Position? = nil
    ) throws -> (state: P.State, position: Position) {
        guard let position else { return try states.state(overStore: P.self, view) }
        return try withView { view in
            var past = view
            past.last = min(view.last, position.rawValue)
            return try states.state(overStore: P.self, past)
        }
    }

    /// The state of a projection for the device with this ID, as ``state(overStore:asOf:)``.
    package func state<P: DeviceProjection>(
        _: P.Type, onDevice device: String, asOf position: Position? = nil
    ) throws -> P.State {
        try state(overStore: ByDevice<P>.self, asOf: position).state[Name(device)] ?? P.initial
    }

    // MARK: - Rules

    /// The rules by which the event after `position` (or the next one) is folded, and the event that set them; `.start`
    /// if none did.
    package func rules(
        asOf position: Position = Position(rawValue: .max)
    ) throws -> (position: Position, rules: FoldRules) {
        try withView { view in
            _ = try store.rules.timeline(view)
            let found = store.rules.rules(after: min(position.rawValue, view.last))
            return (Position(rawValue: found.position), found.rules)
        }
    }

    /// As `rules(asOf:)`, as folds of this store use them; nil if no rules were ever set.
    package func boundRules(asOf position: Position = Position(rawValue: .max)) throws -> BoundRules? {
        try withView { view in
            let next = position.rawValue == .max ? .max : position.rawValue + 1
            return try store.rules.timeline(view)?.rules(at: next)
        }
    }

    // MARK: - Sizes

    /// Returns the size of the store, as one consistent view. Reads a row or two, whatever there is.
    package func extent() throws -> LogExtent { try withView { try LogExtent(of: store, $0) } }

    /// Returns the store's numbers, as one consistent view. Looks at every device and at everything that waits.
    package func statistics() throws -> LogStatistics { try withView { try LogStatistics(of: store, $0) } }
}

/// A part of a ``LogReader``.
protocol ReaderPart {
    var log: LogReader { get }
}

extension ReaderPart {
    var store: OpenStore { log.store }
    var states: StateStore { log.states }
    var names: NameTable { log.store.names }
    var braze: BrazeIDs { log.store.braze }
    var options: LogOptions { log.store.options }

    func withView<Result>(_ body: (LogView) throws -> Result) throws -> Result { try log.withView(body) }
}
