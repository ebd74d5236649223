import ProfileLog
import Testing

@Suite("What waits on a device, and takes effect with a launch")
struct PendingFoldTests {
    typealias Counted = FoldedProfile.Counted

    @Test("What is saved waits and has no effect, and the user is not seen by it")
    func saved() throws {
        try given(ProfileProjection.self, .set("level", 1).at(10))
            .when(
                .saved("played").at(5), .saved("level", .increment(1)).at(6), .saved(.email, "a@example.com").at(700)
            )
            .then {
                #expect($0["level"] == 1)
                #expect($0[.email] == nil)
                #expect($0.event("played") == nil)
                #expect($0.waiting == [2, 3, 4])
                #expect($0.firstSeen == 10)
                #expect($0.lastSeen == 10)
            }
    }

    @Test("What waits is shown with its kind, its place and its time")
    func waiting() throws {
        try given(ProfileProjection.self, .saved("played").at(5)).when(.saved("level", .increment(1)).at(6)).then {
            let waits = $0.view.pending
            #expect(waits.map(\.kind) == [.customEvents, .customAttributes])
            #expect(waits.map(\.savedAt.rawValue) == [5, 6])
            #expect(waits.allSatisfy { $0.device == Happening.device && $0.storage == .appGroup("group.test") })
        }
    }

    @Test("A flushed item takes effect with the time and the position of the save, not of the flush")
    func flushed() throws {
        try given(
            ProfileProjection.self, .saved("played").at(5), .saved("level", .increment(2)).at(6),
            .saved(.email, "a@example.com").at(7), .launched.at(100)
        ).when(.flushed(1, 2, 3).at(101)).then {
            #expect($0.event("played") == Counted(1, first: 5, last: 5, position: 1))
            #expect($0["level"] == 2)
            #expect($0.setBy("level") == 2)
            #expect($0.setAt("level") == 6)
            #expect($0[.email] == "a@example.com")
            #expect($0.setBy(.email) == 3)
            #expect($0.waiting == [])
            #expect($0.flushes == Counted(3, first: 101, last: 101, position: 5))
            #expect($0.firstSeen == 5)
            // The launch is a sign of life, the flush is none.
            #expect($0.lastSeen == 100)
        }
    }

    @Test("A save without a time of its own happened when it was recorded")
    func noTime() throws {
        try given(ProfileProjection.self, .saved("played"), .saved("level", .set(1)), .launched.at(9000))
            .when(.flushed(1, 2).at(9001))
            .then {
                let (first, second) = (Happening.recordedAt(1), Happening.recordedAt(2))
                #expect($0.event("played") == Counted(1, first: first, last: first, position: 1))
                #expect($0.setAt("level") == second)
                #expect($0.firstSeen == first)
            }
    }

    @Test("Items take effect in the order of the flush, whatever the order in which they were saved")
    func flushOrder() throws {
        try given(ProfileProjection.self, .saved("x", .set("first")).at(5), .saved("x", .set("second")).at(6))
            .when(.flushed(2, 1))
            .then {
                #expect($0["x"] == "first")
                #expect($0.setBy("x") == 1)
                #expect($0.setAt("x") == 5)
            }
    }

    @Test("What was set while an item waited is overwritten by its flush: that is when it takes effect")
    func flushOverLaterChange() throws {
        try given(ProfileProjection.self, .saved("plan", .set("saved")).at(5), .set("plan", "logged").at(6))
            .when(.flushed(1).at(7))
            .then {
                #expect($0["plan"] == "saved")
                #expect($0.setBy("plan") == 1)
                #expect($0.setAt("plan") == 5)
            }
    }

    @Test("A saved increment counts on what is there at the flush")
    func flushIncrement() throws {
        try given(ProfileProjection.self, .set("n", 1), .saved("n", .increment(10)), .set("n", 5)).when(.flushed(2))
            .then { #expect($0["n"] == 15) }
    }

    @Test("A saved unset takes the attribute away with the flush")
    func flushUnset() throws {
        try given(
            ProfileProjection.self, .set("a", 1), .set(.email, "a@example.com"), .saved("a", .unset),
            .saved(.email, .null)
        ).when(.flushed(3, 4)).then {
            #expect($0["a"] == nil)
            #expect($0[.email] == nil)
        }
    }

    @Test("A flush in chunks: each item once, what is not named yet waits on")
    func chunks() throws {
        try given(ProfileProjection.self, .saved("a").at(1), .saved("a").at(2), .saved("a").at(3), .flushed(1).at(50))
            .when(.flushed(3).at(60))
            .then {
                #expect($0.event("a") == Counted(2, first: 1, last: 3, position: 3))
                #expect($0.waiting == [2])
                #expect($0.flushes == Counted(2, first: 50, last: 60, position: 5))
            }
    }

    @Test("An item that is named again, or was never saved, is not counted twice")
    func flushedTwice() throws {
        try given(ProfileProjection.self, .saved("a").at(1), .flushed(1)).when(.flushed(1, 77)).then {
            #expect($0.event("a")?.count == 1)
            #expect($0.waiting == [])
        }
    }

    @Test("A rejected item changes nothing, and waits no more")
    func rejected() throws {
        try given(ProfileProjection.self, .set("x", 1).at(10), .saved("x", .set(2)).at(5), .saved("y", .set(3)))
            .when(.flushed(rejecting: 2))
            .then {
                #expect($0["x"] == 1)
                #expect($0.setBy("x") == 1)
                #expect($0.waiting == [3])
                #expect($0.flushes.count == 0)
                #expect($0.firstSeen == 10)
            }
    }

    @Test("A rejected item cannot be flushed later")
    func rejectedThenFlushed() throws {
        try given(ProfileProjection.self, .saved("x", .set(2)), .flushed(rejecting: 1)).when(.flushed(1)).then {
            #expect($0["x"] == nil)
        }
    }

    @Test("A discarded item changes nothing, waits no more, and cannot be flushed later")
    func discarded() throws {
        try given(ProfileProjection.self, .saved("x", .set(2)), .saved("played"), .discarded(1)).when(.flushed(1, 2))
            .then {
                #expect($0["x"] == nil)
                #expect($0.event("played")?.count == 1)
                #expect($0.waiting == [])
            }
    }

    @Test("With everything flushed: events first, then custom attributes, then user attributes, each as saved")
    func flushingAll() throws {
        try given(
            ProfileProjection.self, .saved(.email, "first@example.com"), .saved("x", .set(1)), .saved("played"),
            .saved("x", .increment(1)), .saved(.email, "last@example.com")
        ).when(.set("x", 40)).then { profile in
            #expect(profile["x"] == 40)
            let state = profile.state.flushingAllPending()
            #expect(state.pending.isEmpty)
            #expect(state.flushes.count == 0)
            #expect(state.fields.fields.map(\.position).sorted() == [4, 5])
            #expect(state.events.map(\.occurrences.count) == [1])
        }
    }
}
