/// The version of the programs and of the library: docs/versions.md says what each number promises.
package enum ProgramVersion {
    /// The number of the release.
    package static let number = "0.1.0"

    /// The line that `--version` prints. No time is in it: the same commit is the same program.
    ///
    /// - Parameter commit: the commit that the program was built from; empty if that is not known.
    package static func text(commit: String) -> String { "\(number) (commit \(commit.isEmpty ? "unknown" : commit))" }
}
