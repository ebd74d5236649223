internal import Foundation

/// A C library that replaces system functions of a program that a test starts (`LD_PRELOAD`).
///
/// Each source is compiled once. The library lies next to the tests' program: a folder in memory may be mounted without
/// the right to run code.
public struct Shim: Sendable {
    /// The compiled library.
    public let library: String

    /// The reason why a library could not be compiled.
    public struct CannotCompile: Error {
        /// The advice.
        public let advice: String
    }

    /// Compiles `source`.
    public init(_ source: String) throws {
        // FNV-1a: the name tells whether this source was compiled before.
        let hash = source.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        let folder = ChildProcess.built("shims")
        let file = folder.appending(path: "\(String(hash, radix: 16)).so")
        library = file.path
        if FileManager.default.fileExists(atPath: library) { return }
        guard let compiler = Self.compiler else { throw CannotCompile(advice: "apt-get install gcc libc6-dev") }
        // Tests that want the same library at once each put their own complete file in its place.
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let made = folder.appending(path: UUID().uuidString)
        let text = made.appendingPathExtension("c")
        defer { try? FileManager.default.removeItem(at: text) }
        try Data(source.utf8).write(to: text)
        let process = try ChildProcess(
            compiler, ["-O1", "-shared", "-fPIC", "-o", made.path, text.path, "-ldl"])
        guard process.waitForEnd() == 0, rename(made.path, library) == 0 else {
            throw CannotCompile(advice: "The compiler's errors are above.")
        }
    }

    /// Compiles `Tests/faults/fault.c`, which makes a counted system call fail.
    public static func faults() throws -> Shim {
        try Shim(Repository.text("Tests/faults/fault.c"))
    }

    /// The variables under which a program uses the library, and `others`.
    public func environment(_ others: [String: String] = [:]) -> [String: String] {
        ["LD_PRELOAD": library].merging(others) { $1 }
    }

    /// The C compiler of this machine.
    private static var compiler: URL? {
        let folders = ProcessInfo.processInfo.environment["PATH"] ?? ""
        return folders.split(separator: ":").map { URL(filePath: "\($0)/cc") }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }
}
