extension EventLog {
    /// The state of every device as of `position`, by its ID. Folds the log from its start.
    package func devices(asOf position: Position) throws -> [Name: DeviceState] {
        let replayer = Replayer<PendingProjection>(self)
        try replayer.run(to: position)
        return replayer.devices
    }
}
