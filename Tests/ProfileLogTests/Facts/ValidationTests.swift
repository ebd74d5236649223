import ProfileLog
import TestSupport
import Testing

@testable import ProfileLogFacts
@testable import ProfileLogFolds
@testable import ProfileLogLog

@Suite("Values that no sum or no text can hold are refused")
struct ValidationTests {
    let folder = TemporaryFolder()
    private let rest = EventContext(source: .rest)

    private func log() throws -> EventLog { try folder.open() }

    private func place(of refusal: () throws(AppendError) -> Void) -> String? {
        do throws(AppendError) {
            try refusal()
        } catch {
            if case .invalid(let place, _, _) = error { return place }
        }
        return nil
    }

    // MARK: - Revenue

    private func purchase(_ price: Double, _ quantity: UInt32 = 1) -> ProfileEvent {
        .purchaseLogged(Purchase(product: "p", currency: "EUR", price: price, quantity: quantity))
    }

    @Test(
        "A revenue that cannot be added up",
        arguments: [(1e308, 100), (-1e308, 100), (1e15, 2), (1e15.nextUp, 1), (.infinity, 1), (.nan, 1)]
            as [(Double, UInt32)])
    func revenue(price: Double, quantity: UInt32) throws {
        let log = try log()
        #expect(
            place { () throws(AppendError) in
                _ = try log.append([purchase(price, quantity)], to: .externalID("ana"), context: rest)
            } == "The price")
    }

    @Test("Very many purchases at the bound add up to a number")
    func bound() throws {
        let log = try log()
        _ = try log.append([purchase(1e15), purchase(-1e13, 100)], to: .externalID("ana"), context: rest)
        var sum = ExactSum()
        for _ in 0..<Thoroughness.count(short: 100_000, full: 1_000_000) { sum.add(1e15) }
        #expect(sum.description == (Thoroughness.isFull ? "1e+21" : "1e+20"))
    }

    @Test("A price that is no number, in a log of an earlier program, adds nothing")
    func notANumber() {
        #expect([.nan, .infinity, -.infinity].allSatisfy { ExactSum($0) == ExactSum() })
    }

    // MARK: - Dates

    /// The first and the last microsecond that RFC 3339 can express, seen from furthest east and west.
    static let edges: [OccurredAt] = [-1439, 1439].flatMap { (offset: Int32) in
        [-62_167_219_200_000_000, 253_402_300_799_999_999].map { (local: Int64) in
            OccurredAt(Timestamp(rawValue: local - Int64(offset) * 60_000_000), utcOffsetMinutes: offset)
        }
    }

    /// One step beyond.
    static let beyond: [OccurredAt] =
        edges.map { edge in
            let step: Int64 = edge.timestamp.rawValue < 0 ? -1 : 1
            return OccurredAt(
                Timestamp(rawValue: edge.timestamp.rawValue + step), utcOffsetMinutes: edge.utcOffsetMinutes)
        } + [-1440, 1440, 1500, .min, .max].map { OccurredAt(Timestamp(rawValue: 0), utcOffsetMinutes: $0) }
        + [.min, .max].map { OccurredAt(Timestamp(rawValue: $0)) }

    private func events(_ date: OccurredAt) -> [ProfileEvent] {
        [
            .customAttributesChanged([AttributeChange("a", .set(.date(date)))]),
            .customAttributesChanged([AttributeChange("b", .arrayAdd([.date(date)]))]),
            .customEventLogged(CustomEvent(name: "e", properties: [.init("p", .date(date))])),
            .customEventLogged(CustomEvent(name: "e", properties: [.init("p", ["x": [.date(date)]])])),
            .userAttributesChanged([UserAttributeChange(.dateOfBirth, .date(date))]),
        ]
    }

    @Test("A date at the edge is stored, and its text is read as it was", arguments: edges)
    func edge(date: OccurredAt) throws {
        let text = date.timestamp.rfc3339(utcOffsetMinutes: date.utcOffsetMinutes)
        #expect(OccurredAt(iso8601: text) == date)
        let log = try log()
        var context = rest
        context.occurredAt = date
        for event in events(date) {
            let receipt = try log.append([event], to: .externalID("ana"), context: context)
            let stored = try #require(try log.event(at: receipt.last))
            #expect(stored.event == event && stored.context == context)
        }
    }

    @Test("A date beyond the edge is refused, wherever it is", arguments: beyond)
    func beyondEdge(date: OccurredAt) throws {
        let log = try log()
        for event in events(date) {
            let refusal = place { () throws(AppendError) in
                _ = try log.append([event], to: .externalID("ana"), context: rest)
            }
            #expect(refusal != nil)
        }
        var context = rest
        context.occurredAt = date
        let event = ProfileEvent.customEventLogged(CustomEvent(name: "e"))
        func refuses(_ body: () throws(AppendError) -> Void) { #expect(place(of: body) == "The time") }
        refuses { () throws(AppendError) in _ = try log.append([event], to: .externalID("ana"), context: context) }
        refuses { () throws(AppendError) in
            _ = try PreparedAppend.identity(.removeExternalID(.externalID("ana")), context: context)
        }
        refuses { () throws(AppendError) in _ = try PreparedAppend.device("d", .leave, context) }
        refuses { () throws(AppendError) in
            _ = try PreparedAppend.discard(device: "d", .all, actor: "a", reason: "r", context: context)
        }
        #expect(try log.lastPosition() == .start)
    }
}
