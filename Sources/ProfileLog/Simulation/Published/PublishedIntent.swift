/// What people and processes do on one device, whatever becomes of it. Times are those of the device's clock, which may jump.
public enum PublishedIntent: Hashable, Sendable {
    /// A process saves an item.
    case saved(PublishedItem)
    /// The app starts or comes back with this user on the device, and is to flush these lists.
    case launched(LaunchKind, lists: Set<PendingKind> = PendingKind.all, user: UserNumber, at: Timestamp)
    /// The device is this user's from now on.
    case userChanged(UserNumber, at: Timestamp)
    /// The device is set up like this from now on; of that, the SDK's switch and the app's own app groups matter here.
    case settingsChanged(DeviceSettings, at: Timestamp)
    /// Somebody gives up the items at these positions, and resets the storages in which they lie.
    case discarded([Position], at: Timestamp)

    var time: Timestamp {
        switch self {
        case .saved(let item): item.savedAt
        case .launched(_, _, _, let time), .userChanged(_, let time), .settingsChanged(_, let time),
            .discarded(_, let time):
            time
        }
    }
}
