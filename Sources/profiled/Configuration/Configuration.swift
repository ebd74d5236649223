internal import CoreFoundation
internal import Foundation
internal import ProfileLog
internal import ProfileLogRequests

/// The settings, and where each came from.
struct Configuration: Sendable {
    enum Origin: Sendable, Equatable {
        case flag
        case environment
        /// The line of the file.
        case file(line: Int)
        case fallback
    }

    var settings = ServiceSettings()
    /// By the key; a setting that is not here has its default.
    var origins: [String: Origin] = [:]
    /// The file that was read; nil if there is none.
    var file: String?
    /// The content of that file.
    var content: [UInt8] = []
    /// Sentences about what is likely a mistake and no error.
    var notes: [String] = []

    func origin(of setting: Setting) -> Origin { origins[setting.key] ?? .fallback }
}

/// A value, or a file, that cannot be used.
struct ConfigurationError: Error, Equatable {
    /// The reason, with the file, line and column, the variable, or the flag.
    var sentence: String
    var remedy: String
    /// The place in the file, if it is one.
    var line: Int?
    var column: Int?
}

/// All errors of a configuration, at least one.
struct ConfigurationErrors: Error {
    var all: [ConfigurationError]
}

/// From where the configuration is read: flags have more weight than the environment, and that more than the file.
struct ConfigurationSource: Sendable {
    /// The file that is read if it exists, unless another one is named or the store is for tests.
    static let usualPath = "/etc/profilelog/profiled.yaml"
    private static let maxBytes = 1 << 20

    let flags: Setting.Flags
    let environment: [String: String]
    /// The file, by `--config` or the environment; nil for the usual one.
    var namedPath: String?

    init(_ flags: Setting.Flags, environment: [String: String] = ProcessInfo.processInfo.environment) {
        self.flags = flags
        self.environment = environment
        let path = flags.store?.config ?? environment["PROFILED_CONFIG"] ?? ""
        namedPath = path.isEmpty ? nil : path
    }

    /// The file to read; nil if there is none.
    private var path: String? {
        if let namedPath { return namedPath }
        // A test is the same on every machine.
        if isEphemeral { return nil }
        var status = stat()
        // One that may exist and cannot be reached is an error when it is read.
        return lstat(Self.usualPath, &status) == 0 || errno != ENOENT && errno != ENOTDIR ? Self.usualPath : nil
    }

    /// Tells whether a flag or the environment asks for a store for tests.
    private var isEphemeral: Bool {
        if flags.service?.isEphemeral == true { return true }
        guard let setting = Setting.all.first(where: { $0.key == "ephemeral" }),
            let word = environment[setting.variable]
        else { return false }
        var settings = ServiceSettings()
        return setting.takeWord(word, &settings) && settings.isEphemeral
    }

    /// Reads everything and checks it. Finds all errors, not only the first one.
    func read() throws(ConfigurationErrors) -> Configuration {
        var reading = Reading()
        if let path { reading.take(fileAt: path, maxBytes: Self.maxBytes) }
        reading.take(environment)
        reading.take(flags)
        if !reading.errors.isEmpty { throw ConfigurationErrors(all: reading.errors) }
        return reading.configuration
    }
}

/// A configuration that is being read, from what has least weight on.
private struct Reading {
    var configuration = Configuration()
    var errors: [ConfigurationError] = []

    mutating func take(_ flags: Setting.Flags) {
        for setting in Setting.all {
            switch setting.takeFlag(flags, &configuration.settings) {
            case .absent: continue
            case .taken: configuration.origins[setting.key] = .flag
            case .refused:
                errors.append(
                    ConfigurationError(
                        sentence: "--\(setting.flag) \(setting.words.flagRule ?? setting.words.rule).",
                        remedy: "Correct the flag."))
            }
        }
    }

    // MARK: - The environment

    mutating func take(_ environment: [String: String]) {
        for setting in Setting.all {
            guard let word = environment[setting.variable], !word.isEmpty else { continue }
            if setting.takeWord(word, &configuration.settings) {
                configuration.origins[setting.key] = .environment
            } else {
                // Kubernetes makes it for a service that is called so: `tcp://10.0.0.1:8080`.
                let isOfKubernetes = word.hasPrefix("tcp://")
                errors.append(
                    ConfigurationError(
                        sentence: "The variable \(setting.variable) \(setting.words.rule).",
                        remedy: isOfKubernetes
                            ? "Kubernetes sets it for a service of this name: set enableServiceLinks to false."
                            : "Correct it, or unset it."))
            }
        }
        // Others may have names that begin so; only a slip of the pen is told.
        let known = Setting.all.map(\.variable) + ["PROFILED_CONFIG"]
        for name in environment.keys.sorted() where name.hasPrefix("PROFILED_") && !known.contains(name) {
            if let near = NearestNames(to: name, among: known, within: 2).close.first {
                configuration.notes.append("The variable \(name) is not known, and \(near) is.")
            }
        }
    }

    // MARK: - The file

    mutating func take(fileAt path: String, maxBytes: Int) {
        configuration.file = path
        guard let file = FileHandle(forReadingAtPath: path),
            let data = try? file.read(upToCount: maxBytes + 1) ?? Data()
        else {
            let error = StartError(
                unreadable: "The configuration", path,
                remedy: "Check the path, and that \(Self.user) may read it; --config /dev/null reads no file.")
            errors.append(ConfigurationError(sentence: error.sentence, remedy: error.remedy))
            return
        }
        guard data.count <= maxBytes, let yaml = String(data: data, encoding: .utf8) else {
            let isLong = data.count > maxBytes
            errors.append(
                ConfigurationError(
                    sentence: "The configuration \(path) is \(isLong ? "larger than 1 MiB" : "not UTF-8").",
                    remedy: isLong ? "Name the right file with --config." : "Save it as UTF-8."))
            return
        }
        configuration.content = Array(data)
        do throws(YAMLFileError) {
            // Without content, all has its default.
            guard let root = try YAMLNode(yaml: yaml, withAnchors: false) else { return }
            try take(root, below: "")
        } catch {
            add(error)
        }
    }

    /// The name of the user who runs this process.
    private static var user: String { NSUserName() }

    private mutating func take(_ node: YAMLNode, below group: String) throws(YAMLFileError) {
        let names = Self.names(below: group)
        for (name, value) in try node.members() {
            let key = group + name.text
            if let setting = Setting.all.first(where: { $0.key == key }) {
                if let error = setting.takeNode(value, &configuration.settings) {
                    add(error)
                } else {
                    configuration.origins[key] = .file(line: value.spot.line)
                }
            } else if names.contains(name.text) {
                // A group of which all lines are comments is no error.
                if value.isNull { continue }
                do throws(YAMLFileError) { try take(value, below: key + ".") } catch { add(error) }
            } else {
                add(Self.unknown(value, name.text, among: names))
            }
        }
    }

    /// The keys and the groups directly below `group`.
    private static func names(below group: String) -> [String] {
        var names: [String] = []
        for setting in Setting.all where setting.key.hasPrefix(group) {
            let name = String(setting.key.dropFirst(group.count).prefix { $0 != "." })
            if !names.contains(name) { names.append(name) }
        }
        return names
    }

    /// The error for a key that is not known: the nearest one, or the one whose flag or last word it is.
    private static func unknown(_ value: YAMLNode, _ name: String, among names: [String]) -> YAMLFileError {
        var error = value.unknown(key: name, among: names)
        let asFlag = name.replacing("_", with: "-")
        let elsewhere = Setting.all.first {
            $0.flag == asFlag || $0.key.split(separator: ".").last.map(String.init) == asFlag
        }
        if let elsewhere, NearestNames(to: name, among: names).close.isEmpty {
            error.remedy = "Did you mean `\(elsewhere.key)`?"
        }
        return error
    }

    private mutating func add(_ error: YAMLFileError) {
        errors.append(
            ConfigurationError(
                sentence: "The configuration \(configuration.file ?? ""), line \(error.line), column \(error.column): "
                    + "\(error.sentence).",
                remedy: error.remedy, line: error.line, column: error.column))
    }
}
