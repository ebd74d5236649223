/// The events of a log as they are recorded, by any process: `EventLog.events(after:where:live:)`.
///
/// Each iterator begins at the same position and reads the log by itself, a page at a time: a slow reader holds one
/// page (at most 1,024 events, or about 256 KiB of records), and loses nothing. The disk is read on no actor. When the
/// task is cancelled, `next()` throws `CancellationError`; when the log is closed, `StorageError.closed`.
public struct EventSequence: AsyncSequence, Sendable {
    fileprivate let log: EventLog
    fileprivate let position: Position
    fileprivate let filter: EventFilter
    fileprivate let isLive: Bool

    fileprivate static let eventsPerPage = 1_024
    fileprivate static let bytesPerPage = 256 << 10

    /// Begins at the position of the sequence.
    public func makeAsyncIterator() -> Iterator { Iterator(self) }

    /// Goes through the events of an ``EventSequence``.
    public struct Iterator: AsyncIteratorProtocol {
        private let log: EventLog
        private let isLive: Bool
        private var pages: EventPages
        private var page: [RecordedEvent] = []
        private var index = 0
        private var isEnded = false

        fileprivate init(_ sequence: EventSequence) {
            (log, isLive) = (sequence.log, sequence.isLive)
            pages = EventPages(after: sequence.position, where: sequence.filter)
        }

        /// The next event, as soon as there is one; nil at the log's end if the sequence is not live.
        public mutating func next() async throws -> RecordedEvent? {
            if index < page.count, !Task.isCancelled {
                index += 1
                return page[index - 1]
            }
            if isEnded { return nil }
            do {
                repeat {
                    try Task.checkCancellation()
                    if pages.isAtEnd {
                        if !isLive {
                            isEnded = true
                            return nil
                        }
                        _ = try await log.wait(after: pages.scanned)
                    }
                    (page, index) = ([], 0)
                    (pages, page) = try await Self.read(pages, log)
                } while page.isEmpty
            } catch {
                (isEnded, page, index) = (true, [], 0)
                throw error
            }
            index = 1
            return page[0]
        }

        @concurrent
        private static func read(
            _ pages: EventPages, _ log: EventLog
        ) async throws -> (pages: EventPages, page: [RecordedEvent]) {
            var pages = pages
            let page = try log.withReader { log in
                try pages.next(in: log, limit: EventSequence.eventsPerPage, maxBytes: EventSequence.bytesPerPage)
            }
            return (pages, page)
        }
    }
}

extension EventLog {
    // MARK: - Watching

    /// The events after `position`, and then each one as it is recorded, by this process or another.
    ///
    /// ```swift
    /// for try await event in log.events(after: receipt.last, where: EventFilter(kinds: [.customEventLogged])) {
    ///     print(event.position, event.event)
    /// }
    /// ```
    ///
    /// An event that was erased comes as a tombstone, and each erasure is an event of its own (`userErased`); what a
    /// page in memory has may be erased while it is there.
    ///
    /// A position that the log has not reached is no error: the sequence waits until it has, and the events up to it do
    /// not come. A log that was restored may end before what a consumer noted, so keep a ``HistoryCursor``, which such
    /// a log refuses.
    ///
    /// - Parameter live: false ends the sequence at the end of the log.
    public func events(
        after position: Position = Position(rawValue: 0), where filter: EventFilter = EventFilter(),
        live isLive: Bool = true
    ) -> EventSequence {
        EventSequence(log: self, position: position, filter: filter, isLive: isLive)
    }

    /// As `events(after:where:live:)` with a position, after an event that a consumer noted. Throws
    /// `StorageError.otherHistory` at once if the event is not in this log.
    ///
    /// ```swift
    /// let noted = try log.cursor(at: receipt.last).description
    /// if let cursor = HistoryCursor(noted) {
    ///     for try await event in try log.events(after: cursor, live: false) { print(event.position) }
    /// }
    /// ```
    public func events(
        after cursor: HistoryCursor, where filter: EventFilter = EventFilter(), live isLive: Bool = true
    ) throws -> EventSequence {
        try refuseForeign(cursor)
        return events(after: cursor.position, where: filter, live: isLive)
    }

    /// The cursor of the event at `position`, for a consumer to keep: another log refuses it.
    public func cursor(at position: Position) throws -> HistoryCursor { try reader.cursor(at: position) }

    /// Returns when the log has reached `position`, whichever process appends: every later read sees it.
    ///
    /// Throws `CancellationError` at once if the task is cancelled, and `StorageError.closed` when the log is closed.
    public func wait(for position: Position) async throws {
        if position > .start { _ = try await wait(after: Position(rawValue: position.rawValue - 1)) }
    }

    private func refuseForeign(_ cursor: HistoryCursor) throws {
        do {
            try reader.refuseForeign(cursor)
        } catch let other as OtherHistory {
            throw StorageError.otherHistory(position: other.position, last: other.last)
        }
    }
}
