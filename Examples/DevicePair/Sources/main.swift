// Two processes on one store: an extension saves, and its app launches, watches and repairs.
//
//     swift run DevicePair FOLDER
import ProfileLog

let arguments = CommandLine.arguments.dropFirst()
let folder = arguments.first ?? "profiles"
let log = try EventLog(path: folder, create: true)

// The app starts the extension as this program with a second argument.
if arguments.dropFirst().first == "extension" {
    try saveGame(log)
} else {
    try await runApp(log, folder: folder)
}
log.close()
