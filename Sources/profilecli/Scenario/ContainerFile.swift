internal import Foundation
internal import ProfileLog
internal import ProfileLogNativeAPI

/// A container of the tag manager in a file, or in a scenario.
enum ContainerFile {
    /// The text of the file at `path`, which is a container. A failure names the file, the line and the column.
    static func text(_ path: String) throws(Failure) -> String {
        let text = try Scenario.text(path, ifMissing: "Check the path; docs/tag-manager.md has an example.")
        do throws(YAMLFileError) {
            _ = try TagContainer(yaml: text)
        } catch {
            throw Failure(
                "\(path.oneLine):\(error.line):\(error.column): \(error.fault).", remedy: error.remedy, status: .usage)
        }
        return text
    }

    /// What a step says of a container: the container itself, or the name of a file, seen from `folder`.
    static func text(_ node: YAMLNode, in folder: URL) throws(YAMLFileError) -> String {
        if node.isMapping {
            _ = try TagContainer(node)
            return try node.json().json  // JSON is YAML
        }
        let path = folder.appending(path: try node.text()).path
        do throws(Failure) {
            return try text(path)
        } catch {
            throw node.refusal("names a wrong file: \(error.sentence)", remedy: error.remedy)
        }
    }
}
