/// Why a workspace file cannot be used: where, what, and what to do.
public struct WorkspaceError: Error, Hashable, CustomStringConvertible {
    /// The line of the file, from 1.
    public var line: Int
    /// The key at fault, from the top of the file: `segments[0].all[1].equals`; empty for the file as a whole.
    public var place: String
    /// What is wrong there.
    public var reason: String
    /// The next step.
    public var remedy: String

    /// One line without the remedy.
    public var description: String {
        place.isEmpty ? "line \(line): the file \(reason)" : "line \(line): `\(place)` \(reason)"
    }
}
