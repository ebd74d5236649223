import Foundation
import ProfileLog
import ProfileLogBackup
import TestSupport

/// The built `profilecli`, which backs a store up into a folder.
struct BackupProgram {
    let store: String
    let backup: String
    private let errors: URL

    /// A program whose messages go into the file `errors`.
    init(store: String, backup: String, errors: URL) {
        (self.store, self.backup, self.errors) = (store, backup, errors)
    }

    /// Starts a run.
    func start(_ environment: [String: String] = [:]) throws -> ChildProcess {
        var variables = ["PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"]
        for name in ["LD_LIBRARY_PATH", "HOME"] { variables[name] = ProcessInfo.processInfo.environment[name] }
        return try ChildProcess(
            ChildProcess.built("profilecli"), ["--store", store, "backup", backup],
            environment: variables.merging(environment) { $1 }, output: .nothing, errors: .file(errors))
    }

    /// A run to its end: its exit code, or minus the signal that ended it, and what it said.
    func run(_ environment: [String: String] = [:]) throws -> (end: Int32, said: String) {
        let end = try start(environment).waitForEnd()
        return (end, try said)
    }

    /// The messages of the last run.
    var said: String { get throws { try String(contentsOf: errors, encoding: .utf8) } }

    /// Verifies the backup and restores it into `drill`, which is removed. Returns what is wrong, and the digest of the
    /// restored rows.
    func drill(in drill: String) throws -> (problems: [String], digest: String?) {
        defer { try? FileManager.default.removeItem(atPath: drill) }
        let problems = try BackupVerifier(path: backup).verify().problems.map(\.description)
        let report = try Restore(BackupReader(path: backup)).drill(in: drill)
        return (problems + report.problems, report.digest)
    }

    /// The files of the backup but for its lock, by their paths in the folder.
    func contents() throws -> [String: Data] {
        var files: [String: Data] = [:]
        for name in FileManager.default.enumerator(atPath: backup)?.compactMap({ $0 as? String }) ?? [] {
            let path = "\(backup)/\(name)"
            var isFolder: ObjCBool = false
            guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else { continue }
            if !isFolder.boolValue, name != "lock" { files[name] = try Data(contentsOf: URL(filePath: path)) }
        }
        return files
    }
}
