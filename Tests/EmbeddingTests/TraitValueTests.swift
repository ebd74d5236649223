import ProfileLog
import ProfileLogTesting
import TestSupport
import Testing

@Suite("Traits, as an embedder asks for them")
struct TraitValueTests {
    private static func song(_ genre: String, _ minutes: AttributeValue) -> ProfileEvent {
        .customEventLogged(
            CustomEvent(name: "song", properties: [.init("genre", .string(genre)), .init("minutes", minutes)]))
    }

    private static let songs: UserTrait.Source = .event("song")

    @Test("Each function of a trait has its value, at each version")
    func functions() throws {
        let store = try TemporaryLog()
        let log = store.log
        // Versions 2 to 5; the first event of a user is that of the user.
        for (genre, minutes) in [("jazz", 3), ("folk", 4), ("jazz", 0.1), ("rock", "?")] as [(String, AttributeValue)] {
            try log.append([Self.song(genre, minutes)], to: .ana, context: .server)
            store.clock.advance(by: .seconds(60))
        }
        func value(_ trait: UserTrait, _ moment: Moment = .now) throws -> AttributeValue? {
            try log.value(of: trait, for: .ana, asOf: moment)
        }
        #expect(try value(.count(Self.songs)) == 4)
        #expect(try value(.count(Self.songs, property: "minutes")) == 4)
        #expect(try value(.count(.event("never"))) == 0)
        #expect(try value(.sum(Self.songs, property: "minutes"), .version(3)) == 7)
        #expect(try value(.sum(Self.songs, property: "minutes")) == 7.1)
        #expect(try value(.first(Self.songs, property: "genre")) == "jazz")
        #expect(try value(.last(Self.songs, property: "genre")) == "rock")
        #expect(try value(.mostFrequent(Self.songs, property: "genre")) == "jazz")
        #expect(try value(.unique(Self.songs, property: "genre")) == .array(["jazz", "folk", "rock"]))
        #expect(try value(.unique(Self.songs, property: "genre"), .version(2)) == .array(["jazz"]))
        #expect(try value(.last(Self.songs, property: "genre"), .version(1)) == nil)
        #expect(try value(.count(Self.songs), .position(3)) == 2)
        #expect(throws: MomentError.self) { try value(.count(Self.songs), .version(6)) }
        // An unknown user did nothing.
        #expect(try log.value(of: .count(Self.songs), for: .bo) == 0)
        #expect(try log.value(of: .last(Self.songs), for: .bo) == nil)
    }

    @Test("A window ends at the moment that is asked for")
    func windows() throws {
        let store = try TemporaryLog()
        let log = store.log
        let begin = store.clock.now
        for _ in 0..<3 {
            try log.append([Self.song("jazz", 1)], to: .ana, context: .server)
            store.clock.advance(by: .seconds(3_600))
        }
        func count(_ span: Duration?, _ moment: Moment = .now) throws -> AttributeValue? {
            try log.value(of: .count(Self.songs, within: span), for: .ana, asOf: moment)
        }
        #expect(try count(nil) == 3)
        #expect(try count(.seconds(3_600)) == 1)
        #expect(try count(.seconds(7_199)) == 1)
        #expect(try count(.seconds(7_200)) == 2)
        #expect(try count(.seconds(3_600), .version(3)) == 2)
        #expect(try count(.seconds(1), .time(Timestamp(rawValue: begin.rawValue + 1_800_000_000))) == 0)
        #expect(try count(.seconds(1_800), .time(Timestamp(rawValue: begin.rawValue + 1_800_000_000))) == 1)
        // Spans that no window can have.
        for span in [Duration.seconds(Int64.max), .seconds(36_500 * 86_400)] { #expect(try count(span) == 3) }
        for span in [Duration.seconds(Int64.min), .seconds(-1)] { #expect(try count(span) == 0) }
    }

    @Test("What waits or is void does not count, a merged user's events do, and a purchase counts with its quantity")
    func effects() throws {
        let store = try TemporaryLog()
        let log = store.log
        let saved = CustomEvent(name: "song", properties: [.init("genre", "folk")])
        try log.append([.customEventSaved(saved)], to: .ana, context: .push(on: "phone"))
        let void = try log.append([Self.song("jazz", 1)], to: .ana, context: .server)
        let count = UserTrait.count(Self.songs)
        #expect(try log.value(of: count, for: .ana) == 1)
        try log.launch(device: "phone")
        #expect(try log.value(of: count, for: .ana) == 2)
        let before = try log.lastPosition()
        try log.void(void.last, actor: "a test", reason: "a test")
        #expect(try log.value(of: count, for: .ana) == 1)
        #expect(try log.value(of: count, for: .ana, asOf: .position(before)) == 2)
        try log.append([Self.song("rock", 1)], to: .bo, context: .server)
        try log.change(.merge(source: .bo, target: .ana))
        let pen = Purchase(product: "pen", currency: "EUR", price: 0.1, quantity: 3)
        try log.append([.purchaseLogged(pen)], to: .ana, context: .server)
        let values = try log.read { moment in
            [
                try moment.value(of: count, for: .ana), try moment.value(of: .count(.purchase("pen")), for: .ana),
                try moment.value(of: .sum(.purchases, property: "revenue"), for: .ana),
            ]
        }
        #expect(values == [2, 3, 0.3])
    }
}
