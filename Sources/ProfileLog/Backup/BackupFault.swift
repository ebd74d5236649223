/// The reason why bytes are not what a backup must have, as the end of a sentence about their file: "it is cut".
package struct BackupFault: Error, Hashable {
    package let reason: String

    package init(_ reason: String) { self.reason = reason }
}
