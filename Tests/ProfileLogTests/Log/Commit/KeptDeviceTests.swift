import ProfileLog
import TestSupport
import Testing

@testable import ProfileLogFolds
@testable import ProfileLogLog
@testable import ProfileLogMachines

@Suite("A device that is kept from step to step of a commit")
struct KeptDeviceTests {
    private let storage = StorageCode(rawValue: 1)
    private let owners: [UInt64: UInt64] = [2: 1]

    private func item(_ position: UInt64, _ random: inout SeededGenerator) -> PendingItem {
        PendingItem(
            storage: storage, user: .random(in: 1...6, using: &random), position: position,
            kind: PendingKind.allCases.randomElement(using: &random))
    }

    private func state(items: ClosedRange<UInt64>, _ random: inout SeededGenerator) -> DeviceState {
        var state = DeviceState()
        for position in items { state.apply(.saved(item(position, &random))) }
        state.apply(.launched(position: 1_000, lists: PendingKind.all, isInBackground: false, at: 0))
        return state
    }

    @Test("The kept device knows the next items that a search of its state would find", arguments: UInt64(0)..<30)
    func next(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var kept = KeptDevice("d", state(items: 1...40, &random), owners: owners)
        for step in UInt64(0)..<60 {
            let limit = step % 20 == 19 ? 2 : 3
            let fresh = Device(state: kept.state, now: 0, owners: owners)
            let flushing = kept.machineForFlush([storage], limit: limit, now: 0)
            let due = fresh.due([storage], limit: limit)
            #expect(flushing.due([storage], limit: limit) == due)
            #expect(flushing.hasQueue == fresh.hasQueue)
            let send = Device.Input.send(.request, limit: limit)
            let sent = fresh.handle(send, current: nil)
            let sending = kept.machineForSending(limit: limit, now: 0)
            #expect(sending.handle(send, current: nil) == sent)
            let positions = due.map(\.position)
            switch Int.random(in: 0..<7, using: &random) {
            case 0: kept.apply(.saved(item(500 + step, &random)))
            case 1: kept.apply(.gone(Array(positions.prefix(1))))
            case 2: kept.apply(.handed(positions, position: 2_000 + step))
            case 3: kept.apply(.gone(Array(kept.state.items.keys.sorted().suffix(2))))
            case 4, 5:
                guard case .dataSent(let positions)? = sent.first?.event else { break }
                kept.apply(.sent(positions.map(\.rawValue), at: 0))
            default: kept.apply(.sent(positions, at: 0))
            }
        }
    }

    @Test("A kept device searches its items once, however many steps there are", arguments: [false, true])
    func searches(isQueued: Bool) {
        var random = SeededGenerator(seed: 1)
        var kept = KeptDevice("d", state(items: 1...300, &random), owners: owners)
        if isQueued { kept.apply(.handed(Array(1...300), position: 2_000)) }
        var steps = 0
        while true {
            let machine =
                isQueued
                ? kept.machineForSending(limit: 3, now: 0) : kept.machineForFlush([storage], limit: 3, now: 0)
            let positions = (isQueued ? machine.next?.queue : machine.next?.due)?.map(\.position) ?? []
            if positions.isEmpty { break }
            kept.apply(.sent(positions, at: 0))
            steps += 1
        }
        #expect(steps >= 100 && kept.state.items.isEmpty)
        // A flush also looks whether something is queued.
        #expect(kept.searches == (isQueued ? 1 : 2))
    }
}
