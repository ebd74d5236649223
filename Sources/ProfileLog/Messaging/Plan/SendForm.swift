/// The request that sends: the beginning of its path. The names are stored with scheduled sends.
package enum SendForm: String, Sendable, CaseIterable {
    /// `/messages/…`
    case messages
    /// `/campaigns/trigger/…`
    case campaign
    /// `/canvas/trigger/…`
    case canvas

    /// The member that names the campaign or the canvas.
    package var idKey: Name { self == .canvas ? "canvas_id" : "campaign_id" }
}
