import Foundation
import ProfileLog
import Synchronization
import TestSupport
import Testing

@testable import ProfileLogLog
@testable import ProfileLogReplay

@Suite("The rebuild of an older program's states")
struct StateRebuildTests {
    private let folder = TemporaryFolder()
    private let clock = TestClock()

    /// A log of which the states are those of `EventCount`, or with `isNew` those of the newer program.
    private func open(isNew: Bool, usersAtOnce: Int = 2, interval: Int = 8) throws -> EventLog {
        var options = LogOptions.small(clock)
        options.snapshotInterval = interval
        options.usersPerIndexSlice = usersAtOnce
        return try folder.open(
            options: options,
            projections: [isNew ? TenfoldCount.self : EventCount.self])
    }

    /// Users with `events` events and an old state each.
    private func fill(users: Int, events: Int = 10) throws {
        let log = try open(isNew: false, interval: min(events, 8))
        var builder = log.prepare(capacity: users * events)
        for user in 1...users {
            // The first event is that they were created.
            for _ in 1..<events {
                try builder.add(.customEventLogged(CustomEvent(name: "a")), .test, to: .externalID("u\(user)"))
            }
        }
        _ = try log.commit(builder.finish())
        try log.writeIndex()
    }

    private func oldStates(_ log: EventLog) throws -> Int {
        try log.rows(.snapshots).keys.count { key in
            key.withUnsafeBytes { SnapshotKey($0)?.projection } == EventCount.name
        }
    }

    @Test("After the swap the old rows leave in parts, one part a step")
    func removed() throws {
        try fill(users: 5_000, events: 2)
        let log = try open(isNew: true, usersAtOnce: 2_000, interval: 2)
        #expect(try oldStates(log) == 5_000)
        var rebuild = StateRebuild()
        var news: [StateRebuild.News] = []
        var left: [Int] = []
        while true {
            let step = rebuild.step(log)
            if let one = step.news { news.append(one) }
            #expect(!step.isFailure)
            if news.contains(.swapped) { left.append(try oldStates(log)) }
            if step.isDone { break }
        }
        #expect(news == [.begun, .swapped])
        #expect(left == [5_000, 904, 0])
        #expect(try log.state(TenfoldCount.self, of: UserNumber(rawValue: 7)) == 20)
    }

    @Test("Rows that a kill left before the swap are removed first")
    func left() throws {
        try fill(users: 5_000, events: 2)
        let log = try open(isNew: true, usersAtOnce: 10_000, interval: 2)
        _ = try log.replayIntoShadow { _ in false }
        _ = try log.shadow.discard()
        var rebuild = StateRebuild()
        func rows() throws -> Int { try log.rows(.snapshots).count }
        #expect(try rows() == 10_000)
        #expect(rebuild.step(log).news == .begun)
        #expect(try rows() == 10_000 - 4_096)
        while !rebuild.step(log).isDone {}
        #expect(try rows() == 5_000 && oldStates(log) == 0)
    }

    @Test("A failure is told once, and another one again")
    func failures() throws {
        try fill(users: 3)
        let log = try open(isNew: true)
        var rebuild = StateRebuild()
        for until in [10, 20] {
            _ = try log.replayIntoShadow(until: Position(rawValue: UInt64(until)))
            for attempt in 0..<3 {
                let step = rebuild.step(log)
                #expect(step.isFailure && !step.isDone)
                guard attempt == 0 else {
                    #expect(step.news == nil)
                    continue
                }
                guard case .failed(let failure)? = step.news, let error = failure.error as? any LogError else {
                    Issue.record("\(String(describing: step.news))")
                    continue
                }
                let text = error.description
                #expect(text.contains("is of another replay") && text.contains("up to position \(until)"), "\(text)")
                #expect(error.remedy.contains("discard it"), "\(error.remedy)")
            }
            try log.discardShadow()
        }
        #expect(rebuild.step(log).news == nil, "It said before that it begins.")
        while !rebuild.step(log).isDone {}
        #expect(try log.state(TenfoldCount.self, of: UserNumber(rawValue: 2)) == 100)
    }

    @Test("Old rows that cannot be removed after the swap are a failure, told once")
    func notRemoved() throws {
        try fill(users: 5_000, events: 2)
        let log = try open(isNew: true, usersAtOnce: 10_000, interval: 2)
        var rebuild = StateRebuild()
        while rebuild.step(log).news != .swapped {}
        try FileManager.default.removeItem(atPath: folder.path + "/data.mdb")
        let steps = [rebuild.step(log), rebuild.step(log)]
        #expect(steps.allSatisfy { $0.isFailure && !$0.isDone })
        guard case .failed? = steps[0].news, steps[1].news == nil else {
            Issue.record("\(steps)")
            return
        }
    }

    /// ```
    /// one   | step: view, view … fold
    /// other |          its whole rebuild
    /// ```
    @Test("Another program may swap at any moment of the first step, which then says nothing of an end")
    func otherFirst() throws {
        try fill(users: 5)
        var isOver = false
        for moment in 1...100 where !isOver {
            // A copy of the store, with old states, for each moment.
            let copy = TemporaryFolder()
            try FileManager.default.createDirectory(atPath: copy.path, withIntermediateDirectories: true)
            try FileManager.default.copyItem(atPath: folder.path + "/data.mdb", toPath: copy.path + "/data.mdb")
            let log = try copy.open(options: .small(clock), projections: [TenfoldCount.self])
            let views = Mutex(0)
            let budget = ReadBudget(
                .seconds(3_600),
                onView: {
                    let count = views.withLock { views in
                        views += 1
                        return views
                    }
                    if count != moment { return }
                    ReadBudget.$current.withValue(nil) {
                        var other = StateRebuild()
                        while !other.step(log).isDone {}
                    }
                })
            var rebuild = StateRebuild()
            let first = ReadBudget.$current.withValue(budget) { rebuild.step(log) }
            isOver = views.withLock { $0 < moment }
            #expect(first.news == .begun || !isOver && first.news == nil, "\(moment): \(first)")
            #expect(!first.isFailure, "\(moment): \(first)")
            var news = [first.news].compactMap { $0 }
            while case let step = rebuild.step(log), !step.isDone { if let one = step.news { news.append(one) } }
            #expect([[], [.begun, .swapped], [.begun, .endedElsewhere]].contains(news), "\(moment): \(news)")
        }
        #expect(isOver)
    }

    @Test("Of two programs on one store none fails when the other swaps first", arguments: 0..<8)
    func two(round: Int) throws {
        try fill(users: 40 + round)
        let said = Mutex<[[StateRebuild.News]]>([[], []])
        let logs = try (0..<2).map { _ in try open(isNew: true) }
        onThreads(2) { thread in
            var rebuild = StateRebuild()
            while true {
                let step = rebuild.step(logs[thread])
                if let news = step.news { said.withLock { $0[thread].append(news) } }
                if step.isDone { return }
            }
        }
        for news in said.withLock({ $0 }) {
            let isFine = [[], [.begun, .swapped], [.begun, .endedElsewhere]].contains(news)
            #expect(isFine, "\(news)")
        }
        #expect(try oldStates(logs[0]) == 0)
        #expect(try logs[1].state(TenfoldCount.self, of: UserNumber(rawValue: 40)) == 100)
        try logs[0].expectSound()
    }
}
