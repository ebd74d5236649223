/// The outcome of a send for one user, device or address.
package struct SendEvent {
    package var step: MessageStep
    package var context: EventContext
}
