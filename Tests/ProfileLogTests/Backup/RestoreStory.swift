import Foundation
import ProfileLog
import ProfileLogBackup
import TestSupport
import Testing

/// A store with a backup of it, and places for restored stores.
struct RestoreStory {
    let folder: TemporaryFolder
    let clock = TestClock()
    let log: EventLog
    private(set) var random: SeededGenerator

    var backup: String { folder("backup") }
    var options: LogOptions { .small(clock) }

    init(seed: UInt64, _ ending: TemporaryFolder.Ending = .sound) throws {
        folder = try TemporaryFolder.made(ending, prefix: "restore")
        random = SeededGenerator(seed: seed)
        log = try folder.open("store", options: .small(clock))
    }

    mutating func number(_ bound: Int) -> Int { random.next(below: bound) }

    /// Logs, saves, launches, merges and erasures. Each event has a name of its own with one chance in three.
    mutating func act(_ steps: Int, erases: Bool = true) throws {
        for step in 0..<steps {
            // A clock that stands, and one that is set back: recorded times stay.
            clock.advance(Int64(number(4) - 1) * 1_000_000)
            let user = UserID.externalID("u\(number(6))")
            let change = AttributeChange(
                Name("a\(number(4))"), [.set(.int(Int64(number(9)))), .increment(1), .unset][number(3)])
            let isNew = number(3) == 0
            let event = CustomEvent(name: isNew ? Name("new \(number(1 << 30)) \(step)") : Name("e\(number(3))"))
            switch number(20) {
            case 0..<5: _ = try log.append([.customAttributesChanged([change])], to: user, context: .test)
            case 5..<9: _ = try log.append([.customEventLogged(event)], to: user, context: .test)
            case 9..<14:
                let saved: [ProfileEvent] = [.customAttributesSaved([change]), .customEventSaved(event)]
                _ = try log.append([saved[number(2)]], to: user, context: .saved(on: "d\(number(2))"))
            case 14..<17: _ = try log.launch(device: "d\(number(2))")
            case 17:
                let other = UserID.externalID("u\(number(6))")
                let users = try (log.find(user)?.number, log.find(other)?.number)
                guard let source = users.0, let target = users.1, source != target else { continue }
                _ = try log.commit(.identity(.merge(source: user, target: other), context: .test))
            case 18: if erases, number(4) == 0 { _ = try log.erase([user], actor: "a test", reason: "asked to") }
            default: try log.writeIndex()
            }
        }
    }

    /// Brings the backup up to date.
    @discardableResult
    func backUp(_ source: EventLog? = nil, into path: String? = nil) throws -> BackupReport {
        let source = source ?? log
        return try BackupRun(
            log: source, target: BackupFolder(path: path ?? backup, store: source.path)
        ).run()
    }

    /// Restores the backup into the folder `name`.
    @discardableResult
    func restore(
        _ name: String, to end: Restore.End = .whole, from path: String? = nil, erasures: ErasureRegister? = nil,
        replacing: Bool = false
    ) throws -> RestoreReport {
        let path = path ?? backup
        let restore = try Restore(BackupReader(path: path), to: end, erasures: erasures)
        let target = try RestoreFolder(path: folder(name), replacing: replacing, backup: path)
        return try restore.run(into: target, options: options)
    }

    /// The events of `log` up to `end`.
    static func events(_ log: EventLog, to end: Position) throws -> [RecordedEvent] {
        var events: [RecordedEvent] = []
        while UInt64(events.count) < end.rawValue {
            let page = try log.events(from: Position(rawValue: UInt64(events.count) + 1), limit: 1_000).events
            if page.isEmpty { break }
            events += page.filter { $0.position <= end }
        }
        return events
    }

    /// The rows of `log` up to `end`, in the order of their positions.
    static func records(_ log: EventLog, to end: Position) throws -> [[UInt8]] {
        let rows = try log.rows(.log)
        return (0..<end.rawValue).compactMap { index in withNumberKey(index + 1) { rows[Array($0)] } }
    }
}
