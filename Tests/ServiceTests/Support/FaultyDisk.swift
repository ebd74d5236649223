import Foundation
import TestSupport
import Testing

/// `Tests/faults/fault.c`, compiled, so that a service may meet a disk that fails.
struct FaultyDisk: Sendable {
    private let folder: TemporaryFolder
    private let shim: Shim
    private var calls: URL { folder.file("calls") }

    /// Counts calls in files of `folder`.
    init(in folder: TemporaryFolder) throws {
        self.folder = folder
        shim = try Shim.faults()
    }

    /// The variables under which a process meets `fault`.
    func environment(_ fault: String) -> [String: String] { shim.environment(["FAULT": fault]) }

    /// The names of the write and sync calls by which a sound service opens a new store and then does `work`.
    func calls(
        _ arguments: [String] = [], of work: (Service) async throws -> Void
    ) async throws -> (opening: [String], work: [String]) {
        let folder = folder.file("counted")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let service = try await Service(
            in: folder, arguments: arguments,
            environment: environment("count").merging(["FAULT_COUNT": calls.path]) { $1 })
        let opening = counted
        try await work(service)
        let all = counted
        try await service.stop()
        return (opening, Array(all[opening.count...]))
    }

    private var counted: [String] {
        let text = (try? String(contentsOf: calls, encoding: .utf8)) ?? ""
        return text.split(separator: "\n").map { $0.split(separator: " ").last.map(String.init) ?? "" }
    }
}
