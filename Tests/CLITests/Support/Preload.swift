import Foundation

/// A library of C functions that stand before the system's own (`LD_PRELOAD`), so that a program meets what a test wants it to meet.
struct Preload {
    private let library: String

    /// Whether there is a C compiler to make it with.
    static let canCompile = FileManager.default.isExecutableFile(atPath: "/usr/bin/cc")

    /// Compiles `source` into the folder of `cli`, as the library `name`.
    init(_ source: String, as name: String, _ cli: CLI) throws {
        library = cli.folder.appending(path: "\(name).so").path
        let file = try cli.write(source, as: "\(name).c")
        let outcome = try cli.run(
            ["-shared", "-fPIC", "-o", library, file, "-ldl"], command: URL(filePath: "/usr/bin/cc"))
        guard outcome.status == 0 else { throw CannotCompile(errors: outcome.errors) }
    }

    struct CannotCompile: Error { let errors: String }

    /// The variables under which a program has the library, with `others`.
    func environment(_ others: [String: String]) -> [String: String] {
        ["LD_PRELOAD": library].merging(others) { $1 }
    }
}
