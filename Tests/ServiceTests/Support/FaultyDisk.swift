import Foundation
import TestSupport
import Testing

/// `Tests/faults/fault.c`, compiled, so that a service may meet a disk that fails.
struct FaultyDisk: Sendable {
    private let folder: URL
    private var library: URL { folder.appendingPathComponent("fault.so") }
    private var calls: URL { folder.appendingPathComponent("calls") }

    /// The C compiler of this machine.
    static let compiler = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map { "\($0)/cc" }
        .first { FileManager.default.isExecutableFile(atPath: $0) }

    /// Compiles the library into `folder`.
    init(in folder: URL) throws {
        self.folder = folder
        let source = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("faults/fault.c")
        try Self.compile(source, into: library)
    }

    /// Compiles a library that a process can be started with (`LD_PRELOAD`).
    static func compile(_ source: URL, into library: URL) throws {
        let process = try ChildProcess(
            URL(fileURLWithPath: #require(Self.compiler)),
            ["-O1", "-shared", "-fPIC", "-o", library.path, source.path, "-ldl"])
        try #require(process.waitForEnd() == 0, "\(source.lastPathComponent) does not compile.")
    }

    /// The variables under which a process meets `fault`.
    func environment(_ fault: String) -> [String: String] { ["LD_PRELOAD": library.path, "FAULT": fault] }

    /// The names of the write and sync calls by which a sound service opens a new store and then does `work`.
    func calls(
        _ arguments: [String] = [], of work: (Service) async throws -> Void
    ) async throws -> (opening: [String], work: [String]) {
        let folder = folder.appendingPathComponent("counted")
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
