// Appends what a server knows, saves what a push extension sees, launches the app, and reads the profile.
//
//     swift run Embedder FOLDER
import ProfileLog

let folder = CommandLine.arguments.dropFirst().first ?? "profiles"
let log = try EventLog(path: folder, create: true)

// What a server logs is effective at once. Under the same key the same append, sent again, changes nothing.
let user = UserID.externalID("jane")
let song = CustomEvent(name: "played song", properties: [.init("minutes", .int(3))])
let receipt = try log.append(
    [.customEventLogged(song), .customAttributesChanged([AttributeChange("level", .set(.int(7)))])],
    to: user, context: .server, idempotencyKey: "request-1")
print("Appended up to position \(receipt.last.rawValue)\(receipt.isRepetition ? ", a retry" : "").")
try printProfile(of: user, in: log)

// What an extension saves waits on the device: the profile stays as it is.
let pushContent = EventContext.extension("PushContent", on: "phone", storage: .appGroup("group.app"))
let game = CustomEvent(name: "Completed Match Game", properties: [.init("Score", .int(10))])
let saved = try log.append([.customEventSaved(game)], to: user, context: pushContent)
print("Saved at position \(saved.last.rawValue).")
try printProfile(of: user, in: log)

// The launch flushes it.
let launch = try log.launch(device: "phone")
print("Launched: \(launch.flushed.count) flush.")
try printProfile(of: user, in: log)

try await appendTogether(log)
try askAboutThePast(log)

/// Prints what the log knows of `user` now.
func printProfile(of user: UserID, in log: EventLog) throws {
    guard let found = try log.find(user) else { return print("\(user) is not known.") }
    let profile = try log.profileView(log.profile(of: found.number))
    let attributes = profile.customAttributes.map { "\($0.name) = \($0.value)" }
    let events = profile.customEvents.map { "\($0.name) × \($0.count)" }
    print("  version \(found.version.rawValue): \((attributes + events).joined(separator: ", "))")
}
