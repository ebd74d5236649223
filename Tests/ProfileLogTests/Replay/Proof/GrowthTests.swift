import Foundation
import ProfileLog
import TestSupport
import Testing

@testable import ProfileLogFolds
@testable import ProfileLogReplay

/// Processor time of this thread only, so that other tests do not matter, at a size and at its double.
@Suite("No read and no fold grows with the square of what one event, value or user holds", .serialized)
struct GrowthTests {
    /// Linear costs grow about 2 times, costs of the square 4 times.
    private static let most = 3.2

    private func expectNoSquare(_ size: Int, _ make: (Int) throws -> () throws -> Void) throws {
        let (small, large) = (try make(size), try make(2 * size))
        var least = (small: Double.infinity, large: Double.infinity)
        for _ in 0..<3 {
            least.small = min(least.small, try Self.time(small))
            least.large = min(least.large, try Self.time(large))
            if least.large < Self.most * least.small { return }
        }
        #expect(least.large < Self.most * least.small, "\(least.small) s for \(size), \(least.large) s for the double")
    }

    private static func time(_ work: () throws -> Void) throws -> Double {
        let begin = now()
        try work()
        return now() - begin
    }

    private static func now() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    private static func members(_ count: Int, _ round: Int) -> [AttributeValue.Member] {
        (0..<count).map { .init(Name("member \($0)"), .int(Int64($0 + round * count))) }.sorted { $0.key < $1.key }
    }

    private func blame(
        _ size: Int, withLog: Bool, rounds: Int, _ changes: (Int, Int) -> [AttributeChange]
    ) throws -> () throws -> Void {
        let folder = TemporaryFolder()
        let log = try folder.log(TestClock(), indexLag: 10_000)
        for round in 0..<rounds {
            _ = try log.append([.customAttributesChanged(changes(size, round))], to: .externalID("ana"))
        }
        let user = try #require(try log.find(.externalID("ana"))).number
        return { () throws in
            #expect(try log.blame(of: user, withLog: withLog).count == size)
            withExtendedLifetime(folder) {}
        }
    }

    @Test("The fold of a launch of items that are older than the snapshot")
    func launchAfterSnapshot() throws {
        try expectNoSquare(1_500) { size in
            let (folder, clock) = (TemporaryFolder(), TestClock())
            var options = LogOptions.small(clock)
            (options.indexLag, options.itemsPerFlush, options.snapshotInterval) = (100_000, 5, 1)
            let log = try folder.open(options: options, projections: [ProfileProjection.self, Minutes.self])
            let song = CustomEvent(name: "song", properties: [.init("minutes", .int(1))])
            for _ in 0..<size {
                _ = try log.append([.customEventSaved(song)], to: .externalID("ana"), context: .saved(on: "phone"))
            }
            try log.writeIndex()
            _ = try log.launch(device: "phone")
            let user = try #require(try log.find(.externalID("ana"))).number
            return { () throws in
                #expect(try log.state(Minutes.self, of: user) == Int64(size))
                withExtendedLifetime(folder) {}
            }
        }
    }

    @Test("Blame of events with many attributes", arguments: [false, true])
    func attributes(withLog: Bool) throws {
        try expectNoSquare(400) { size in
            try blame(size, withLog: withLog, rounds: 3) { size, round in
                (0..<size).map { AttributeChange(Name("a \($0)"), .set(.int(Int64($0 + round * size)))) }
            }
        }
    }

    @Test("Blame of an object with many members", arguments: [false, true])
    func members(withLog: Bool) throws {
        try expectNoSquare(400) { size in
            try blame(size, withLog: withLog, rounds: 3) { size, round in
                [AttributeChange("object", .set(.object(Self.members(size, round))))]
            }
        }
    }

    @Test("Elements added to an array, one event after the other", arguments: [nil, AttributePolicy.setUnion])
    func elements(policy: AttributePolicy?) throws {
        let additions: [(Int) -> AttributeOperation] = [
            { .arrayAdd([.string("element \($0)")]) }, { .objectsAdd([["id": .int(Int64($0))]]) },
        ]
        for addition in additions {
            try expectNoSquare(1000) { size in
                let operations = (0..<size).map(addition)
                let rule = AttributeRule(policy: policy ?? .lastArrival)
                return {
                    var state = ProfileState()
                    for (index, operation) in operations.enumerated() {
                        state.apply(
                            operation, to: FieldKey(custom: 1), by: rule, position: UInt64(index + 1), at: 0)
                    }
                    #expect(state.customAttribute(1)?.elements?.count == size)
                }
            }
        }
    }

    @Test("Blame of an array that grew by one element an event")
    func blamedElements() throws {
        try expectNoSquare(400) { size in
            let folder = TemporaryFolder()
            let log = try folder.log(TestClock(), indexLag: 10_000)
            var builder = log.prepare(capacity: size)
            for index in 0..<size {
                let change = AttributeChange("array", .arrayAdd([.string("element \(index)")]))
                try builder.add(.customAttributesChanged([change]), .test, to: .externalID("ana"))
            }
            _ = try log.commit(builder.finish())
            let user = try #require(try log.find(.externalID("ana"))).number
            return { () throws in
                #expect(try log.blame(of: user, field: "array").count == size)
                withExtendedLifetime(folder) {}
            }
        }
    }

    @Test("The members of a large object, looked for by their keys")
    func keys() throws {
        try expectNoSquare(1000) { size in
            let members = Self.members(size, 0)
            let object = AttributeValue.object(members)
            return { for member in members { #expect(object[member.key] != nil) } }
        }
    }

    @Test("Operations on large arrays and objects")
    func operations() throws {
        let texts = { (size: Int) in (0..<size).map { AttributeValue.string("text \($0)") } }
        let objects = { (size: Int) in
            (0..<size).map { AttributeValue.object([.init("id", .int(Int64($0))), .init("of", .int(1))]) }
        }
        let kinds: [(old: (Int) -> AttributeValue, operation: (Int) -> AttributeOperation)] = [
            ({ .array(texts($0)) }, { .arrayAdd(texts($0).reversed()) }),
            ({ .array(texts($0)) }, { .arrayRemove(texts($0)) }),
            ({ .object(Self.members($0, 0)) }, { .objectMerge(Self.members($0, 1)) }),
            ({ .array(objects($0)) }, { .objectsRemove((0..<$0).map { .init("id", .int(Int64($0))) }) }),
            (
                { .array(objects($0)) },
                { size in
                    let updates = (0..<size).map {
                        AttributeOperation.ObjectUpdate(
                            match: .init("id", .int(Int64($0))), object: [.init("of", .int(2))])
                    }
                    return .objectsUpdate(updates, merging: true)
                }
            ),
        ]
        for kind in kinds {
            try expectNoSquare(500) { size in
                let (old, operation) = (kind.old(size), kind.operation(size))
                return { #expect(operation.applied(to: old) != old) }
            }
        }
    }
}
