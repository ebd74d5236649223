public import Foundation
public import ProfileLog
internal import Synchronization
public import Testing

/// A folder for one test. At the end of the test each store in it is checked, then it is removed.
///
/// The end is that of the last reference. A log that the test opened by ``open(create:options:projections:)`` is
/// checked as it is, with what it has in memory; a store that other code or another program wrote is opened for it.
/// Of many logs on one store the last four are checked: each check reads the whole store. What is wrong is an issue of
/// the test, at the line that made the folder.
///
/// A test that damages a store says so: `TemporaryFolder(.damaged)`, or `expectDamage()`.
public final class TemporaryFolder: Sendable {
    /// The state in which a test leaves its folder.
    public enum Ending: Sendable {
        /// Every store in it is sound.
        case sound
        /// A store may be damaged or cannot be opened: none is checked.
        case damaged
    }

    /// Its path.
    public let path: String
    private let ending: Mutex<Ending>
    private let location: SourceLocation
    private let logs = Mutex<[EventLog]>([])

    /// A folder that is not made yet, whose name begins with `prefix`.
    public init(_ ending: Ending = .sound, prefix: String = "store", location: SourceLocation = #_sourceLocation) {
        path = TestFolders.new(prefix).path
        self.ending = Mutex(ending)
        self.location = location
    }

    /// A folder that is made at once.
    public static func made(
        _ ending: Ending = .sound, prefix: String, location: SourceLocation = #_sourceLocation
    ) throws -> TemporaryFolder {
        let folder = TemporaryFolder(ending, prefix: prefix, location: location)
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        return folder
    }

    /// Its path, as a URL.
    public var url: URL { URL(filePath: path) }

    /// The path of `name` in the folder.
    public func callAsFunction(_ name: String) -> String { "\(path)/\(name)" }

    /// The file `name` in the folder.
    public func file(_ name: String) -> URL { url.appending(path: name) }

    /// Opens the log whose store is this folder, or `name` in it. It stays open until the end of the test; a log that
    /// is to be left before is made by `EventLog`.
    public func open(
        _ name: String? = nil, create: Bool = true, options: LogOptions = LogOptions(),
        projections: [any Projection.Type]? = nil
    ) throws -> EventLog {
        let path = name.map { self($0) } ?? path
        let projections = projections ?? [ProfileProjection.self]
        let log = try EventLog(path: path, create: create, options: options, projections: projections)
        logs.withLock { $0.append(log) }
        return log
    }

    /// Says that the test damages a store: none is checked at its end.
    public func expectDamage() { ending.withLock { $0 = .damaged } }

    deinit {
        if ending.withLock({ $0 }) == .sound { checkStores() }
        try? FileManager.default.removeItem(atPath: path)
    }

    private func checkStores() {
        let open = logs.withLock { $0.filter { !$0.isClosed } }
        for (path, logs) in Dictionary(grouping: open, by: \.path) {
            for log in logs.suffix(4) { report(path) { try log.problems() } }
        }
        let files = FileManager.default.enumerator(atPath: path)?.compactMap { $0 as? String } ?? []
        for file in files where file == "data.mdb" || file.hasSuffix("/data.mdb") {
            let store = URL(filePath: self(file)).deletingLastPathComponent().path
            if open.contains(where: { $0.path == store }) { continue }
            report(store) { try EventLog(path: store).problems() }
        }
    }

    /// Records what `problems` gives for `store` as an issue.
    private func report(_ store: String, _ problems: () throws -> [String]) {
        do {
            let found = try problems()
            if found.isEmpty { return }
            Issue.record(
                "the store \(store): \(found.joined(separator: "; "))", sourceLocation: location)
        } catch {
            Issue.record("the store \(store) cannot be checked: \(error)", sourceLocation: location)
        }
    }
}

extension EventLog {
    /// The problems that `check` and the audit find.
    package func problems() throws -> [String] {
        let report = try check()
        // Tests of a fold have events of users who were never created.
        guard report.isSound, try reader.extent().users > 0 else { return report.problems.map(\.description) }
        let auditor = Auditor(self)
        while try auditor.step(budget: .seconds(1)) {}
        return auditor.report.differences.map { "\($0)" }
    }

    /// Fails the test with every problem that `check` and the audit find, before its end.
    public func expectSound(_ location: SourceLocation = #_sourceLocation) throws {
        let found = try problems()
        #expect(found.isEmpty, "\(found.joined(separator: "; "))", sourceLocation: location)
    }
}
