internal import ProfileLogRequests

/// Why a workspace file cannot be used: where, what, and what to do.
package struct WorkspaceError: Error, Hashable, CustomStringConvertible {
    /// The line of the file, from 1.
    package var line: Int
    /// The key at fault, from the top of the file: `segments[0].all[1].equals`; empty for the file as a whole.
    package var place: String
    /// What is wrong there.
    package var reason: String
    /// The next step.
    package var remedy: String

    /// One line without the remedy.
    package var description: String {
        place.isEmpty ? "line \(line): the file \(reason)" : "line \(line): `\(place)` \(reason)"
    }
}
