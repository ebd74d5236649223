import ProfileLog
import TestSupport
import Testing

@testable import ProfileLogRecords

/// Begins the story of one user: what has happened before the story's point.
///
/// `try given(ProfileProjection.self, .set("level", 1)).when(.changed("level", .increment(2))).then {
/// #expect($0["level"] == 3) }`
func given<P: Projection>(_: P.Type, _ happenings: Happening...) -> FoldStory<P> {
    FoldStory(given: happenings)
}

/// A fold's test as a sentence. The events are stored in a log of their own and read back from it, so `then` sees what
/// a caller of the log would; and whatever the story is about, the laws of a projection must hold for it.
struct FoldStory<P: Projection> {
    private let given: [Happening]
    private var when: [Happening] = []

    init(given: [Happening]) { self.given = given }

    func when(_ happenings: Happening...) -> FoldStory {
        var story = self
        story.when += happenings
        return story
    }

    /// Folds given and when, and lends the state and the log that holds it. States come as a snapshot keeps them,
    /// through their bytes: what those leave out is missed.
    func tell(_ location: SourceLocation, _ body: (EventLog, _ before: P.State, P.State) throws -> Void)
        throws
    {
        let folder = TemporaryFolder()
        let log = try folder.open(
            options: .small(TestClock()), projections: [P.self])
        let batch = Self.batch(given + when, log.names)
        try log.committer.apply(batch)
        try Self.expectLaws(batch, log, location)
        let before = try Self.live(log, after: given.count)
        try body(
            log, Self.restored(before, location), Self.restored(Self.live(log, after: batch.count), location))
        try log.expectSound(location)
    }

    /// The state as it is read after `count` events of the one user; where all are folded into one, it is that of the
    /// store.
    private static func live(_ log: EventLog, after count: Int) throws -> P.State {
        try log.withView { view in
            try log.states.state(P.self, 1, version: UInt64(count), view)
        }
    }

    private static func restored(_ state: P.State, _ location: SourceLocation) throws -> P.State {
        try #require(P.encode(state).withUnsafeBytes { P.decode($0) }, sourceLocation: location)
    }

    /// The happenings as records, each at its position.
    private static func batch(_ happenings: [Happening], _ table: NameTable) -> CommitBatch {
        var names = NewNames(table)
        var writer = WireWriter()
        var ends: [Int] = []
        for (index, happening) in happenings.enumerated() {
            let begin = writer.count
            RecordHeader.write(
                kind: happening.event.kind.rawValue, user: 1, version: UInt64(index + 1),
                recordedAt: Happening.recordedAt(index + 1), to: &writer)
            _ = EventEncoder.write(happening.event, happening.context, names: &names, to: &writer)
            writer.littleEndian(crc32c(writer.bytes.slice(begin..<writer.count)))
            ends.append(writer.count)
        }
        return CommitBatch(
            firstPosition: 1, firstName: names.firstNumber, names: names.added, bytes: Array(writer.bytes), ends: ends)
    }

    /// Stopping anywhere, storing the state and going on from its bytes changes no byte of the end; and the log says
    /// the same.
    private static func expectLaws(_ batch: CommitBatch, _ log: EventLog, _ location: SourceLocation) throws {
        let whole = try fold(batch, batch.ends.indices, into: P.initial, log.names)
        for cut in 0...batch.count {
            let restored = try restored(fold(batch, 0..<cut, into: P.initial, log.names), location)
            let resumed = try P.encode(fold(batch, cut..<batch.count, into: restored, log.names))
            #expect(resumed == P.encode(whole), "resumed after \(cut) events", sourceLocation: location)
        }
        let live = try live(log, after: batch.count)
        #expect(P.encode(live) == P.encode(whole), sourceLocation: location)
    }

    private static func fold(
        _ batch: CommitBatch, _ range: Range<Int>, into state: P.State, _ names: NameTable
    ) throws -> P.State {
        var state = state
        try batch.bytes.withUnsafeBytes { bytes in
            let records = BatchRecords(bytes: bytes, ends: batch.ends)
            let driver = FoldDriver(names: names, rules: nil)
            var fold = ProjectionFold<P>()
            for index in range {
                let position = UInt64(index + 1)
                try driver.apply(
                    records.header(at: position), at: position, to: &state, &fold, from: records)
            }
        }
        return state
    }
}

/// The records of a batch whose first position is 1.
private struct BatchRecords: FoldSource {
    let bytes: UnsafeRawBufferPointer
    let ends: [Int]

    func header(at position: UInt64) -> RecordHeader {
        let index = Int(position) - 1
        guard let header = RecordHeader(bytes.slice((index == 0 ? 0 : ends[index - 1])..<ends[index])) else {
            preconditionFailure("A story wrote a record that is none.")
        }
        return header
    }

    func mergedPositions(_ header: RecordHeader, _ position: UInt64) -> [UInt64]? { nil }
    func voidChanges(by owner: UInt64, after begin: UInt64, before end: UInt64) -> [VoidChange] { [] }
    func prefetch(_ positions: [UInt64], _ index: Int) {}
}

extension FoldStory where P.State: Equatable {
    func then(_ expected: P.State, _ location: SourceLocation = #_sourceLocation) throws {
        try tell(location) { _, _, state in #expect(state == expected, sourceLocation: location) }
    }
}

extension FoldStory where P == ProfileProjection {
    func then(_ body: (FoldedProfile) throws -> Void, _ location: SourceLocation = #_sourceLocation) throws {
        try tell(location) { log, _, state in try body(FoldedProfile(state, log.named(state))) }
    }

    /// Attributes, events, purchases, what waits and who set what are as they were before `when`.
    func thenNothingChanges(_ location: SourceLocation = #_sourceLocation) throws {
        try tell(location) { log, before, state in
            #expect(log.named(state) == log.named(before), sourceLocation: location)
            #expect(state.launches == before.launches, sourceLocation: location)
            #expect(state.version > before.version, sourceLocation: location)
        }
    }
}

/// A folded profile, for expectations to read.
struct FoldedProfile {
    let state: ProfileState
    let view: Profile

    init(_ state: ProfileState, _ view: Profile) {
        self.state = state
        self.view = view
    }

    /// A custom attribute's value.
    subscript(_ name: Name) -> AttributeValue? { field(name)?.value }
    /// A standard attribute's value.
    subscript(_ attribute: StandardAttribute) -> AttributeValue? { field(attribute)?.value }

    func setBy(_ name: Name) -> UInt64? { field(name)?.position.rawValue }
    func setBy(_ attribute: StandardAttribute) -> UInt64? { field(attribute)?.position.rawValue }
    func setAt(_ name: Name) -> Int64? { field(name)?.setAt.rawValue }

    func event(_ name: Name) -> Counted? {
        view.customEvents.first { $0.name == name }.map { Counted($0.occurrences) }
    }
    func product(_ name: Name) -> Counted? {
        view.purchases.first { $0.name == name }.map { Counted($0.occurrences) }
    }
    func revenue(_ product: Name) -> [String: Double]? {
        view.purchases.first { $0.name == product }.map {
            Dictionary(uniqueKeysWithValues: $0.revenue.map { ($0.currency, $0.amount) })
        }
    }

    var launches: Counted { Counted(state.launches) }
    var flushes: Counted { Counted(state.flushes) }
    /// Positions of what waits.
    var waiting: [UInt64] { view.pending.map(\.position.rawValue) }
    var firstSeen: Int64? { state.firstSeen?.rawValue }
    var lastSeen: Int64? { state.lastSeen?.rawValue }

    private func field(_ name: Name) -> Profile.Field? { view.customAttributes.first { $0.name == name } }
    private func field(_ attribute: StandardAttribute) -> Profile.Field? {
        view.attributes.first { $0.name.text == attribute.name }
    }

    /// The count, first and last, and the position of the last that was counted.
    struct Counted: Equatable {
        var count: UInt64
        var first: Int64
        var last: Int64
        var position: UInt64

        init(_ count: UInt64, first: Int64, last: Int64, position: UInt64) {
            self.count = count
            self.first = first
            self.last = last
            self.position = position
        }

        init(_ occurrences: ProfileState.Occurrences) {
            self.init(
                occurrences.count, first: occurrences.first.rawValue, last: occurrences.last.rawValue,
                position: occurrences.position.rawValue)
        }
    }
}
