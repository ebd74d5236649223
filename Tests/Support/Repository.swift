public import Foundation

/// The files of this repository.
public enum Repository {
    /// The root folder.
    public static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// The file or folder at a path from the root, as in `docs/where.md`.
    public static func file(_ path: String) -> URL { root.appending(path: path) }

    /// The text of the file at a path from the root.
    public static func text(_ path: String) throws -> String { try String(contentsOf: file(path), encoding: .utf8) }
}
