internal import ArgumentParser
internal import Foundation

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

    func validate() throws {
        if store?.isEmpty == true { throw ValidationError("--store must not be empty.") }
        if keys?.isEmpty == true { throw ValidationError("--keys must not be empty.") }
    }
}
