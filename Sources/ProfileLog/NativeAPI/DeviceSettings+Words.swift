internal import ProfileLogRequests

extension DeviceSettings {
    /// Why the app on the device does not see `storage`; nil if it does.
    func reasonHidden(_ storage: DeviceStorage) -> String? {
        switch storage {
        case _ where appSees(storage): return nil
        case .appGroup(let group): return "the app lacks the app group \(group.text): it cannot see what lies there"
        case .privateTo(let process):
            let lacking = missingAppGroups.filter { $0.process == process }.map(\.group.text)
            let why = lacking.isEmpty ? "" : ", which lacks the app group \(lacking.joined(separator: ", "))"
            return "private to \(process.text)\(why): the app cannot see it"
        }
    }

    /// Why the SDK keeps what it has taken.
    func reasonQueued(died: Bool = false) -> QueueReason {
        if died { return .died }
        if !isSDKEnabled { return .disabled }
        if !isOnline { return .offline }
        if requestPolicy == .manual { return .manual }
        return flushInterval == 0 ? .handed : .interval
    }
}

/// Why something stays in the SDK's queue: the member `why`.
enum QueueReason: String {
    case offline, manual, disabled, died, handed, interval

    /// The member `reason`.
    var words: String {
        switch self {
        case .offline: "the device is offline"
        case .manual: "the request policy is manual: the app must ask for sending"
        case .disabled: "the SDK is disabled"
        case .died: "the app died before the SDK sent it"
        case .handed: "handed, not sent yet: the next launch sends it"
        case .interval: "the flush interval is not over"
        }
    }
}
