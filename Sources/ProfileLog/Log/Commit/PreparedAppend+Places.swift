/// The event for which an append is refused, where the error does not say.
extension PreparedAppend {
    /// The place of the event for which `log` refuses the append with `error`; nil if that is not about one.
    package func item(refusedBy log: EventLog, _ error: AppendError) throws -> Int? {
        switch error {
        case .unknownUser(let user): items.firstIndex { targets[$0.target].id == user }
        case .pendingFull(let limit): try firstItem(beyond: limit, on: log)
        default: nil
        }
    }

    /// The place of the first event that is saved on a device of `log` on which `limit` items wait already.
    private func firstItem(beyond limit: Int, on log: EventLog) throws -> Int? {
        var counts: [Name: Int] = [:]
        for (place, item) in items.enumerated() where item.kind.isSaved {
            guard let device = devices[place] else { continue }
            let count = try counts[device] ?? log.reader.devices.pendingCount(on: device.text)
            if count >= limit { return place }
            counts[device] = count + 1
        }
        return nil
    }
}
