/// The three arrays of a track request, in the order in which their objects take effect.
enum TrackArray: String, CaseIterable {
    case attributes
    case events
    case purchases

    /// The member of the answer that counts them.
    var processedKey: String { "\(rawValue)_processed" }
}
