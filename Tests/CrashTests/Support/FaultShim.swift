import Foundation
import Glibc
import TestSupport

/// `Tests/faults/fault.c`, compiled: the preloaded library that lets a counted system call fail.
struct FaultShim: Sendable {
    private let library: String
    private let scratch: Scratch

    /// Nil where there is no C compiler.
    static func make() throws -> FaultShim? {
        guard let compiler = compiler() else { return nil }
        let scratch = try Scratch()
        let source = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "faults/fault.c").path
        let library = scratch("fault.so")
        let process = try ChildProcess(
            URL(filePath: compiler), ["-O1", "-shared", "-fPIC", "-o", library, source, "-ldl"])
        if process.waitForEnd() != 0 { throw CannotCompile() }
        return FaultShim(library: library, scratch: scratch)
    }

    struct CannotCompile: Error, CustomStringConvertible {
        var description: String { "Tests/faults/fault.c does not compile." }
    }

    /// The C compiler of this machine.
    static func compiler() -> String? {
        let folders = getenv("PATH").map { String(cString: $0) } ?? ""
        return folders.split(separator: ":").map { "\($0)/cc" }.first { access($0, X_OK) == 0 }
    }

    /// The variables under which a process meets `fault`, and notes the calls that it counted in `countFile`.
    func environment(_ fault: String, countFile: String? = nil) -> [String: String] {
        var variables = ["LD_PRELOAD": library, "FAULT": fault]
        variables["FAULT_COUNT"] = countFile
        return variables
    }
}
