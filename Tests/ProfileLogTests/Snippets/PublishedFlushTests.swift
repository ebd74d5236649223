import ProfileLog
import Testing

@testable import ProfileLogSnippets

@Suite("The published snippets, fault by fault: place, time and order")
struct PublishedFlushTests {
    private let a = SavedContent.event("a")
    private let b = SavedContent.event("b")

    @Test("6: items get the time of the flush")
    func misdated() {
        story(.noTimeStored).saves(a).launches().then { end in
            #expect(end.deviations(of: 1) == [Deviation(.noTimeStored, .misdated)])
            #expect(end.deliveries.map(\.time.rawValue) == [1_002_000_000])
        }
        story(.noTimeStored).saves(a).after(0).launches().then { #expect($0.report.isEqual) }
    }

    @Test("7: items go to the user on the device at the flush")
    func wrongUser() {
        story(.noUserStored).saves(a).saves(a, user: 2).userChanges(to: 2).launches(user: 2).then { end in
            #expect(end.deviations(of: 1) == [Deviation(.noUserStored, .wrongUser)])
            #expect(end.outcomes[1]?.receivedBy?.rawValue == 2 && end.deviations(of: 2).isEmpty)
        }
    }

    @Test("9: an event overtakes the attribute that was saved before it")
    func reordered() {
        story(.noOrderAcrossLists).saves(a).saves(.set("x", "y")).saves(b).launches().then { end in
            #expect(end.order == [1, 3, 2])
            #expect(end.effects(of: 1).isEmpty && end.effects(of: 2).isEmpty && end.effects(of: 3) == [.reordered])
        }
    }

    @Test("14, 28: an update makes what waits undecodable, or keeps it until a save overwrites it")
    func update() {
        let email = SavedContent.user(.email, "a@example.com")
        story(.updateBreaksDecoding).launches().saves(email).saves(a).launches().then { end in
            #expect(end.faults(of: 1) == [14] && end.order == [2])
        }
        story(.storedTypeMismatch).launches().saves(a).saves(email).launches().saves(b).launches().then { end in
            #expect(end.effects(of: 1) == [.kept, .lost] && end.effects(of: 2) == [.kept] && end.order == [3])
            #expect(end.outcomes[2]?.fate == .waiting)
        }
    }

    @Test("22: of two saves that meet, the first is overwritten")
    func savesMeet() {
        story(.savesOverwriteEachOther).saves(a).after(5).saves(b, by: "app").launches().then { end in
            #expect(end.order == [2] && end.deviations(of: 1) == [Deviation(.savesOverwriteEachOther, .lost)])
        }
        story(.savesOverwriteEachOther).saves(a).after(5).saves(b).launches().then { #expect($0.report.isEqual) }
        story(.savesOverwriteEachOther).saves(a).after(-5).saves(b, by: "app").launches().then {
            #expect($0.report.isEqual)
        }
    }

    @Test("22: a save that meets a removal brings everything back")
    func resurrected() {
        story(.savesOverwriteEachOther).saves(a).launches().after(95).saves(b).launches().then { end in
            #expect(end.order == [1, 1, 2])
            #expect(end.deviations(of: 1) == [Deviation(.savesOverwriteEachOther, .doubled)])
        }
        story(.savesOverwriteEachOther).saves(a).after(5).launches().launches().then {
            #expect($0.effects(of: 1) == [.delayed] && $0.order == [1])
        }
    }

    @Test("23: what is saved between the reading and the removal is gone")
    func removalTakesMore() {
        story(.removalTakesMoreThanRead).saves(a).launches().after(50).saves(b).launches().then { end in
            #expect(end.order == [1] && end.deviations(of: 2) == [Deviation(.removalTakesMoreThanRead, .lost)])
        }
        story(.removalTakesMoreThanRead).saves(a).launches().after(100).saves(b).launches().then {
            #expect($0.report.isEqual)
        }
    }

    @Test("24: a crash before the removal logs everything, or a prefix, again")
    func crash() {
        story(.crashBeforeRemoval).saves(a).saves(b).launches().launches().then { end in
            #expect(end.order == [1, 2, 1, 2] && end.effects(of: 2) == [.doubled])
        }
        story(.crashBeforeRemoval, under: { $0.itemsBeforeCrash = 1 }).saves(a).saves(b).launches().launches().then {
            #expect($0.order == [1, 1, 2] && $0.effects(of: 1) == [.doubled] && $0.effects(of: 2) == [.delayed])
        }
    }

    @Test("22, 24: what was delivered waits no more, though it lies there to be delivered again")
    func deliveredAndStored() {
        story(.crashBeforeRemoval).saves(a).launches().then { end in
            #expect(end.outcomes[1]?.fate == .delivered && end.report.deliveredRight == 1 && end.report.waiting == 0)
        }
        story(.crashBeforeRemoval).saves(.event("$a")).launches().then { end in
            #expect(end.outcomes[1]?.fate == .rejected && end.report.rejected == 1)
        }
        story(.savesOverwriteEachOther).saves(a).launches().after(95).saves(b).then { end in
            #expect(end.outcomes[1]?.fate == .delivered && end.outcomes[2]?.fate == .waiting)
        }
    }

    @Test("25: the last items of a crashed flush are cleared and never sent")
    func unstored() {
        story(.crashBeforePersistence).saves(a).launches().saves(a).saves(b).launches().then { end in
            #expect(end.order == [1, 2] && end.faults(of: 3) == [25])
        }
    }

    @Test("26: without the instance everything is discarded, until there is one")
    func noInstance() {
        story(.instanceMissing, under: { $0.instanceMissingUntil = Timestamp(rawValue: 1_002_500_000) })
            .saves(a).launches().saves(b).launches().then { end in
                #expect(end.order == [2] && end.deviations(of: 1) == [Deviation(.instanceMissing, .lost)])
            }
    }

    @Test("29: a return to the foreground does not flush")
    func returns() {
        story(.returnDoesNotFlush).saves(a).launches(.return).launches().saves(b).launches(.return).then { end in
            #expect(end.order == [1] && end.effects(of: 1) == [.delayed] && end.effects(of: 2) == [.delayed])
        }
    }

    @Test("30: older SDKs drop events that are logged in the background")
    func background() {
        story(.noSessionInBackground).saves(a).saves(.set("x", 1)).launches(.background).then {
            #expect($0.order == [2] && $0.faults(of: 1) == [30])
        }
        story(.noSessionInBackground, under: { $0.sdk = SDKVersion(18, 1, 0) }).saves(a).launches(.background).then {
            #expect($0.report.isEqual)
        }
    }

    @Test("31: two scenes flush the same list")
    func scenes() {
        story(.flushedTwice).saves(a).saves(b).launches().then { end in
            #expect(end.order == [1, 2, 1, 2] && end.effects(of: 1) == [.doubled])
        }
    }

    @Test("33: a reset takes all in the same storage as the item that was given up")
    func reset() {
        story(.resetTakesEverything).saves(a).saves(b).saves(b, in: .appGroup("group.other")).discards(1).launches()
            .then { end in
                #expect(end.order == [3] && end.faults(of: 2) == [33] && end.deviations(of: 1).isEmpty)
                #expect(end.report.discarded == 1)
            }
    }

    @Test(
        "34, 36: what lies in another storage is never flushed",
        arguments: [Fault.storageArgumentForgotten, .appGroupMissing])
    func strays(fault: Fault) {
        story(fault).saves(a).saves(b, by: "app").saves(a, in: .privateTo(process: "push")).launches().then { end in
            #expect(end.order == [2] && end.deviations(of: 1) == [Deviation(fault, .kept)])
            #expect(end.deviations(of: 3).isEmpty && end.report.stranded == 1)
            #expect(end.outcomes[3]?.fate == .stranded && end.report.waiting == 0)
        }
        story(fault, under: { $0.strayProcesses = ["app"] }).saves(a).saves(b, by: "app").launches().then {
            #expect($0.order == [2] && $0.effects(of: 1) == [.kept])
        }
    }

    @Test("37: a save before the first unlock overwrites what waits")
    func locked() {
        story(.readBeforeUnlock, under: { $0.savesPerLockedSave = 2 }).saves(a).saves(b).launches().then {
            #expect($0.order == [2] && $0.deviations(of: 1) == [Deviation(.readBeforeUnlock, .lost)])
        }
    }

    @Test("Every number of the specification is a fault, or has a reason why it is none")
    func numbers() {
        for number in Fault.numbers {
            #expect((Fault(rawValue: number) == nil) == (Fault.whyNotSimulated(number) != nil), "\(number)")
        }
        #expect(Fault.whyNotSimulated(48) == nil && Fault(rawValue: 48) == nil)
    }

    @Test("What is on a device is all that its machine remembers")
    func bounded() {
        var story = PublishedStory(.faithful())
        for _ in 0..<100 { story = story.saves(a).saves(.set("x", 1)).saves(.user(.email, .null)).launches() }
        story.then { #expect($0.mostItems == 3 && $0.report.items == 300) }
    }
}
