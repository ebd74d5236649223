import ProfileLog

/// Saves as a push extension does: it knows the device, and not who is on it.
func saveGame(_ log: EventLog) throws {
    let push = EventContext.extension("PushContent", on: "phone", storage: .appGroup("group.app"))
    let game = CustomEvent(name: "Completed Match Game", properties: [.init("Score", 10)])
    try log.append([.customEventSaved(game)], to: .device("phone"), context: push)
}
