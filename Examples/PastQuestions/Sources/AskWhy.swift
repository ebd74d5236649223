import ProfileLog

/// Says which events made eve what she is.
func askWhy(_ log: EventLog) throws {
    for entry in try log.blame(.customAttribute("level"), of: "eve") {
        let setter = entry.write.event
        print("\(entry.field) is \(text(entry.value)), and was \(text(entry.previous?.value)):")
        print("  set by version \(setter.version), request \(entry.write.request ?? "none")")
    }

    // A part of a value has its own history.
    for entry in try log.blame(.customAttribute("address", path: "city"), of: "eve") {
        print("\(entry.field) is \(text(entry.value)), set at position \(entry.write.event.position)")
    }

    for entry in try log.blame(.customEvent("Viewed Home"), of: "eve", withLog: true) {
        let versions = entry.log.map { "\($0.event.version)" }
        print("she viewed home \(text(entry.value)) times, by versions \(versions.joined(separator: ", "))")
    }

    for change in try log.changes(of: "eve", from: .version(2)) where change.position != nil {
        print("since version 2: \(change.field) \(text(change.before)) -> \(text(change.after))")
    }
}
