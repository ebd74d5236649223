// A service: it appends what it is told, decides by what the log knows, and follows the log.
//
//     swift run ServiceLoop FOLDER
import ProfileLog

let folder = CommandLine.arguments.dropFirst().first ?? "profiles"
let log = try EventLog(path: folder, create: true, projections: [Coins.self])

// What a server logs is effective at once. Under the same key the same append, sent again, changes nothing.
let user = UserID.externalID("jane")
let song = CustomEvent(name: "played song", properties: [.init("minutes", 3)])
let receipt = try log.append(
    [.customEventLogged(song), .customAttributesChanged([AttributeChange("level", .set(7))])],
    to: user, context: .server, idempotencyKey: "request-1")
print("Appended up to position \(receipt.last)\(receipt.isRepetition ? ", a retry" : "").")

let profile = try log.profile(of: user)
print("jane is on level \(profile["level"] ?? .null) after \(profile.version) events.")

let start = try log.lastPosition()
let follower = Task { try await coinsSpent(log, after: start) }

try await sell(log)
let closing = try log.append([.customEventLogged(CustomEvent(name: "shop closed"))], to: "shop", context: .server)
print("The follower saw \(try await follower.value) coins spent.")

try await log.wait(for: closing.last)
let first = try await newEvents(in: log, after: "0")
let second = try await newEvents(in: log, after: first.noted)
print("A consumer read \(first.events.count) events, and \(second.events.count) after these.")
print("\(try log.userCount()) users.")

log.close()
do {
    try log.append([.customEventLogged(song)], to: user)
} catch {
    print(error.description, error.remedy)
}
