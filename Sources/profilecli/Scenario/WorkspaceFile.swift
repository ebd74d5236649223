internal import Foundation
internal import ProfileLog
internal import ProfileLogBrazeAPI
internal import ProfileLogNativeAPI

extension Workspace {
    /// Reads the workspace file at `path`.
    init(file path: String) throws(Failure) {
        let text = try Scenario.text(path, ifMissing: "Check the path; docs/workspace.md has an example.")
        do throws(YAMLFileError) {
            self = try Workspace(yaml: text)
        } catch {
            throw Failure(
                "\(path.oneLine):\(error.line):\(error.column): \(error.fault).", remedy: error.remedy, status: .usage)
        }
    }
}

/// The workspace of a scenario: in the scenario itself, or in a file.
enum WorkspaceFile {
    /// What a scenario in `folder` says of its workspace.
    static func read(_ node: YAMLNode, in folder: URL) throws(YAMLFileError) -> Workspace {
        if node.isMapping { return try Workspace(node) }
        let path = folder.appending(path: try node.text()).path
        let text: String
        do throws(Failure) {
            text = try Scenario.text(path, ifMissing: "Check the path; docs/workspace.md has an example.")
        } catch {
            throw node.refusal("names a wrong file: \(error.sentence)", remedy: error.remedy)
        }
        do throws(YAMLFileError) {
            return try Workspace(yaml: text)
        } catch {
            throw node.refusal(
                "names a wrong file: \(path.oneLine):\(error.line):\(error.column): \(error.fault)",
                remedy: error.remedy)
        }
    }
}

extension Failure {
    /// The message without its full stop, as a part of another one.
    var sentence: String { message.hasSuffix(".") ? String(message.dropLast()) : message }
}
