/// What the app or the user does with in-app messages of a device.
package enum InAppAction: Hashable, Sendable {
    /// The app asks for the top of the stack.
    case next
    /// The app asks for this message.
    case present(Name)
    /// The user clicks the message on the screen: a button, or the message itself.
    case click(button: Name?)
    case close
    /// The app logs an impression or a click of its own view.
    case logImpression
    case logClick(button: Name?)
    /// Nothing but time: what became ready is shown.
    case timePassed
}
