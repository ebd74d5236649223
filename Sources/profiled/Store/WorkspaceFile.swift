internal import Foundation
internal import ProfileLogBrazeAPI

/// The file that `--workspace` names.
enum WorkspaceFile {
    /// Reads it; if it cannot be used, the start fails.
    static func read(_ path: String) throws(StartFailure) -> Workspace {
        guard let file = FileHandle(forReadingAtPath: path),
            let data = try? file.read(upToCount: Workspace.maxBytes + 1) ?? Data()
        else {
            throw StartFailure(
                "The workspace file \(path) cannot be read.",
                remedy: "Check the path; docs/workspace.md describes the file.")
        }
        guard let yaml = String(data: data, encoding: .utf8) else {
            throw StartFailure("The workspace file \(path) is no UTF-8.", remedy: "Save it as UTF-8.")
        }
        do throws(WorkspaceError) {
            return try Workspace(yaml: yaml)
        } catch {
            throw StartFailure("The workspace file \(path), \(error)", remedy: error.remedy)
        }
    }
}
