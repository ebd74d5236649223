import ProfileLog
import Testing

@Suite("What a profile is after its events")
struct ProfileProjectionTests {
    typealias Counted = FoldedProfile.Counted

    // MARK: - Custom events

    @Test("A custom event is counted, with its first and its last time, however the times come")
    func customEvents() throws {
        try given(ProfileProjection.self, .logged("played").at(50), .logged("other").at(1))
            .when(.logged("played").at(20), .logged("played").at(70), .logged("played").at(60))
            .then {
                #expect($0.event("played") == Counted(4, first: 20, last: 70, position: 5))
                #expect($0.event("other") == Counted(1, first: 1, last: 1, position: 2))
                #expect($0.event("never") == nil)
            }
    }

    @Test("Without a time of its own, an event happened when it was recorded")
    func noTime() throws {
        try given(ProfileProjection.self, .logged("played")).when(.logged("played")).then {
            #expect(
                $0.event("played")
                    == Counted(2, first: Happening.recordedAt(1), last: Happening.recordedAt(2), position: 2))
        }
    }

    @Test("Times before 1970 are times")
    func longAgo() throws {
        try given(ProfileProjection.self, .logged("born").at(5)).when(.logged("born").at(-5)).then {
            #expect($0.event("born") == Counted(2, first: -5, last: 5, position: 2))
            #expect($0.firstSeen == -5)
        }
    }

    @Test("Steps of a message do not update a profile")
    func messages() throws {
        let sent = Happening(event: .message(MessageStep(.sent, of: "spring", by: .applePush)))
        let shown = Happening(event: .message(MessageStep(.shown, of: "spring", by: .inAppMessage)))
        try given(ProfileProjection.self, .logged("played").at(50)).when(sent.at(90), shown.onDevice.at(20)).then {
            #expect($0.firstSeen == 50)
            #expect($0.lastSeen == 50)
            #expect($0.view.customEvents.map(\.name) == ["played"])
        }
    }

    @Test("Event names that differ in case are two events, in the order of their bytes")
    func eventNames() throws {
        try given(ProfileProjection.self, .logged("b"), .logged("B")).when(.logged("a")).then {
            #expect($0.view.customEvents.map(\.name) == ["B", "a", "b"])
        }
    }

    // MARK: - Purchases

    @Test("A purchase of several counts as so many, and as price times quantity")
    func purchases() throws {
        try given(ProfileProjection.self, .bought(3, "coin", for: 0.5, "EUR").at(9))
            .when(.bought(1, "coin", for: 2, "EUR").at(4), .bought(100, "gem", for: 1, "USD"))
            .then {
                #expect($0.product("coin") == Counted(4, first: 4, last: 9, position: 2))
                #expect($0.revenue("coin") == ["EUR": 3.5])
                #expect($0.product("gem")?.count == 100)
                #expect($0.revenue("gem") == ["USD": 100])
            }
    }

    @Test("Revenue is kept by currency, in the order of their names")
    func currencies() throws {
        try given(ProfileProjection.self, .bought(1, "coin", for: 1, "USD"))
            .when(
                .bought(1, "coin", for: 2, "EUR"), .bought(2, "coin", for: 4, "USD"), .bought(1, "coin", for: 8, "JPY"),
                .bought(1, "coin", for: 16, "ZAR")
            )
            .then {
                #expect($0.revenue("coin") == ["EUR": 2, "JPY": 8, "USD": 9, "ZAR": 16])
                #expect($0.view.purchases.first?.revenue.map(\.currency) == ["EUR", "JPY", "USD", "ZAR"])
            }
    }

    @Test("A refund is one more purchase, and less revenue")
    func refund() throws {
        try given(ProfileProjection.self, .bought(1, "coin", for: 5, "EUR")).when(.bought(1, "coin", for: -5, "EUR"))
            .then {
                #expect($0.product("coin")?.count == 2)
                #expect($0.revenue("coin") == ["EUR": 0])
            }
    }

    // MARK: - Standard attributes

    @Test("Standard attributes are apart from custom ones of the same name, and null unsets them")
    func standardAttributes() throws {
        try given(ProfileProjection.self, .set(.email, "a@example.com"), .set(.country, "DE"), .set("email", "custom"))
            .when(.set(.email, "b@example.com").at(3), .set(.country, .null))
            .then {
                #expect($0[.email] == "b@example.com")
                #expect($0.setBy(.email) == 4)
                #expect($0[.country] == nil)
                #expect($0["email"] == "custom")
                #expect($0.view.attributes.map(\.name) == ["email"])
            }
    }

    @Test("Every standard attribute is kept under its name on the wire", arguments: StandardAttribute.allCases)
    func everyStandardAttribute(attribute: StandardAttribute) throws {
        // The fold asks nothing of the value: the append decided which values an attribute may hold.
        try given(ProfileProjection.self).when(.set(attribute, ["a": [1, "x"]])).then {
            #expect($0[attribute] == ["a": [1, "x"]])
            #expect($0.view.attributes.map(\.name.text) == [attribute.name])
        }
    }

    @Test("To unset a standard attribute that is not there changes nothing")
    func unsetMissingStandard() throws {
        try given(ProfileProjection.self, .set(.email, "a@example.com")).when(.set(.phone, .null)).thenNothingChanges()
    }

    // MARK: - Launches, and when the user was seen

    @Test("Launches are counted, with first and last")
    func launches() throws {
        try given(ProfileProjection.self, .launched.at(30)).when(.launched.at(10), .launched.at(20)).then {
            #expect($0.launches == Counted(3, first: 10, last: 30, position: 3))
        }
    }

    @Test("First and last seen are the earliest and the latest time at which something happened")
    func seen() throws {
        try given(ProfileProjection.self, .userCreated.at(100)).when(
            .logged("a").at(50), .set("b", 1).at(200), .set(.email, "a@example.com").at(40), .launched.at(300),
            .bought(1, "coin", for: 1, "EUR").at(20)
        ).then {
            #expect($0.state.created.rawValue == 1)
            #expect($0.firstSeen == 20)
            #expect($0.lastSeen == 300)
        }
    }

    @Test("A profile without events was never seen")
    func nothing() throws {
        try given(ProfileProjection.self).then {
            #expect($0.firstSeen == nil)
            #expect($0.lastSeen == nil)
            #expect($0.state.version == .none)
            #expect($0.view.customAttributes.isEmpty && $0.view.customEvents.isEmpty)
        }
    }

    @Test("Version and position are those of the last event, also one that changes nothing")
    func version() throws {
        try given(ProfileProjection.self, .set("a", 1)).when(Happening(event: .other(.sessionStarted))).then {
            #expect($0.state.version.rawValue == 2)
            #expect($0.state.lastPosition.rawValue == 2)
        }
    }

    @Test(
        "A kind that no fold reads changes nothing", arguments: [EventKind.sessionStarted, .sessionEnded, .unknown])
    func otherKinds(kind: EventKind) throws {
        try given(ProfileProjection.self, .set("a", 1)).when(Happening(event: .other(kind))).thenNothingChanges()
    }

    @Test("Bytes that promise more than follows are no state, and take no time", arguments: 0..<5)
    func promises(list: Int) {
        let head = [UInt8](repeating: 0, count: 3 + 1 + 16 + 3)
        let empty = [UInt8](repeating: 0, count: list == 4 ? 2 : list)
        // The fifth is within the third: the revenue of a product.
        let product: [UInt8] = list == 4 ? [1, 1, 0] : []
        let most = [UInt8](repeating: 0xFF, count: 9) + [1]
        for rest in [[], [0], [UInt8](repeating: 1, count: 100)] {
            let bytes = head + empty + product + most + rest
            #expect(bytes.withUnsafeBytes { ProfileProjection.decode($0) } == nil)
        }
    }
}
