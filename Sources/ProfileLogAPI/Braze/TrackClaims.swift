internal import ProfileLog

/// The claims of track requests under way.
final class TrackClaims: Sendable {
    /// The types that attributes without one are about to get.
    let types = Claims<Name, AttributeType>()
    /// The users who are about to be made for push tokens that nobody has.
    let owners = Claims<PushToken, UserID>()

    /// What one request holds of them.
    struct Held {
        let types: Claims<Name, AttributeType>.Held
        let owners: Claims<PushToken, UserID>.Held

        init(_ claims: TrackClaims) {
            types = .init(claims.types)
            owners = .init(claims.owners)
        }

        /// Gives everything back: what was stored is in the log by now.
        func release() {
            types.release()
            owners.release()
        }
    }
}
