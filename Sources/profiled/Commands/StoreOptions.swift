internal import ArgumentParser
internal import Foundation
internal import ProfileLog

/// Where the store and its keys are.
struct StoreOptions: ParsableArguments {
    @Option(help: "The folder of the store. (default: $PROFILELOG_STORE, or ./profilelog)")
    var store: String?

    @Option(help: ArgumentHelp("The file of the keys. (default: keys.json in the store's folder)", valueName: "file"))
    var keys: String?

    /// `--store`, or the environment, or the default.
    var path: String {
        if let store { return store }
        let inEnvironment = ProcessInfo.processInfo.environment["PROFILELOG_STORE"] ?? ""
        return inEnvironment.isEmpty ? "./profilelog" : inEnvironment
    }

    /// The file of the keys.
    var keyFile: KeyFile { KeyFile(path: keys ?? path + "/keys.json") }

    /// The keys; nil if the store has no file of them. Throws if `--keys` names no file, and if the store is no folder.
    func presentKeys() throws -> [StoredKey]? {
        var isFolder: ObjCBool = true
        if keys == nil, FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), !isFolder.boolValue {
            throw StorageError.unreachable(path: path, code: ENOTDIR)
        }
        if let present = try keyFile.read() { return present }
        guard let keys else { return nil }
        throw StartFailure(
            "There is no file of keys \(keys).",
            remedy: "Check --keys; `profiled keys add` makes the file, with its first key.")
    }

    /// As ``presentKeys()``. Throws also if there is no store.
    func knownKeys() throws -> [StoredKey]? {
        if let present = try presentKeys() { return present }
        switch try StoreFolder(path: path) {
        case .store: return nil
        case .foreign: throw StorageError.notAStore(path: path)
        case .vacant, .unfinished:
            throw StartFailure(
                StorageError.noStore(path: path).description,
                remedy: "Check --store or PROFILELOG_STORE; `profiled keys add` makes a store, with its first key.")
        }
    }

    func validate() throws {
        if store?.isEmpty == true { throw ValidationError("--store must not be empty.") }
        if keys?.isEmpty == true { throw ValidationError("--keys must not be empty.") }
    }
}
