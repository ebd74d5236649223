/// Which items of a history a what-if counts. What is nil lets everything through.
///
/// Whatever happened before is played too, since it decides what lies on a device; it is not counted.
public struct WhatIfScope: Hashable, Sendable {
    /// Saved for this user, or for one who was merged into them.
    public var user: UserNumber?
    /// Saved on this device.
    public var device: String?
    /// Saved at this position or a later one.
    public var since: Position?
    /// The history ends with this position.
    public var until: Position?

    /// Counts every item of the history.
    public init(user: UserNumber? = nil, device: String? = nil, since: Position? = nil, until: Position? = nil) {
        self.user = user
        self.device = device
        self.since = since
        self.until = until
    }

    func counts(_ item: PublishedItem) -> Bool {
        (user.map { $0 == item.user } ?? true) && (since.map { $0 <= item.position } ?? true)
    }
}
