internal import Foundation
internal import ProfileLog
internal import ProfileLogBrazeAPI
internal import ProfileLogNativeAPI

/// YAML files that a command line or a scenario names.
enum YAMLFile {
    /// Runs `read` on the text of the file at `path`; `guide` has an example of one.
    ///
    /// A failure names the file, the line and the column.
    static func read<Value>(
        _ path: String, guide: String, atMost mostBytes: Int = Scenario.mostBytes,
        _ read: (String) throws(YAMLFileError) -> Value
    ) throws(CommandError) -> Value {
        let text = try Scenario.text(path, ifMissing: "Check the path; \(guide) has an example.", atMost: mostBytes)
        do throws(YAMLFileError) {
            return try read(text)
        } catch {
            throw CommandError(error, in: path)
        }
    }

    /// Runs `read` on the file that a scenario in `folder` names.
    static func read<Value>(
        namedBy node: YAMLNode, in folder: URL, _ read: (String) throws(CommandError) -> Value
    ) throws(YAMLFileError) -> Value {
        let path = folder.appending(path: try node.text()).path
        do throws(CommandError) {
            return try read(path)
        } catch {
            let sentence = error.message.hasSuffix(".") ? String(error.message.dropLast()) : error.message
            throw node.refusal("names a wrong file: \(sentence)", remedy: error.remedy)
        }
    }

    /// The text of a container of the tag manager.
    static func container(_ path: String) throws(CommandError) -> String {
        // An export of some 700 tags, which a request can hold.
        try read(path, guide: "docs/tag-manager.md", atMost: 3 << 20) { (text) throws(YAMLFileError) in
            _ = try TagContainer(yaml: text)
            return text
        }
    }

    /// Reads a scenario's container: the container itself, or the name of a file.
    static func container(_ node: YAMLNode, in folder: URL) throws(YAMLFileError) -> String {
        guard node.isMapping else { return try read(namedBy: node, in: folder, container) }
        _ = try TagContainer(node)
        return try node.json().json  // JSON is YAML
    }

    /// Reads a scenario's content extension: a mapping, the name of its property list, or nothing.
    static func contentExtension(_ node: YAMLNode, in folder: URL) throws(YAMLFileError) -> AttributeValue {
        let json = try node.json()
        let named: YAMLNode?
        if node.isMapping {
            named = try node.members().first { $0.key == "info_plist" }?.value
        } else {
            named = node.isNull ? nil : node
        }
        guard let named else { return json }
        var given: [AttributeValue.Member] = []
        if case .object(let members) = json { given = members }
        do {
            return try TypedDocument.contentExtension(given, folder.appending(path: try named.text()).path)
        } catch let error as YAMLFileError {
            throw error
        } catch {
            let failure = CommandError(error)
            throw named.refusal("names a wrong file: \(failure.message.dropLast())", remedy: failure.remedy)
        }
    }

    /// Reads a scenario's workspace: the workspace itself, or the name of a file.
    static func workspace(_ node: YAMLNode, in folder: URL) throws(YAMLFileError) -> Workspace {
        node.isMapping ? try Workspace(node) : try read(namedBy: node, in: folder, Workspace.init(file:))
    }
}

extension Workspace {
    /// Reads the workspace file at `path`.
    init(file path: String) throws(CommandError) {
        self = try YAMLFile.read(path, guide: "docs/workspace.md") { (text) throws(YAMLFileError) in
            try Workspace(yaml: text)
        }
    }
}

extension CommandError {
    /// Describes the error in the file at `path`.
    init(_ error: YAMLFileError, in path: String) {
        self.init(
            "\(path.oneLine):\(error.line):\(error.column): \(error.sentence).", remedy: error.remedy, status: .usage)
    }
}
