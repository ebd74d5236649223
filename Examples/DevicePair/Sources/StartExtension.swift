import Foundation

/// The extension ended with an error.
struct ExtensionFailed: Error {}

/// Runs this program as the extension, and waits until it has ended.
func startExtension(_ folder: String) throws {
    let process = Process()
    process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
    process.arguments = [folder, "extension"]
    try process.run()
    process.waitUntilExit()
    if process.terminationStatus != 0 { throw ExtensionFailed() }
}
