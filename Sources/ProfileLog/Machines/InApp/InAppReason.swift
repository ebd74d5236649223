/// The reason why an in-app message went no further, or what is special about it: fixed sentences, for
/// `MessageStep.reason`. docs/scenarios.md lists them.
package enum InAppReason: String, CaseIterable, CustomStringConvertible {
    // Ignored.
    case beforeStart = "its start time is not over"
    case afterEnd = "its end time is over"
    case shownBefore = "it was shown and is not eligible again"
    case shownLately = "it was shown too short a time ago to be eligible again"
    case onScreen = "it is on the screen"
    case waitsAlready = "it was triggered before and waits"
    case lowerPriority = "the event triggered a message with a higher priority"
    case interval = "another message was triggered within the minimum interval"

    // Waiting.
    case delay = "its delay is not over"
    case request = "its content is requested"
    case background = "the app is in the background"
    case anotherVisible = "another message is on the screen"
    case automaticOff = "automatic display is off"
    case reenqueued = "the delegate put it back on the stack"

    // Discarded.
    case delegate = "the delegate discarded it"
    case asset = "an asset could not be downloaded"
    case late = "it was ready after its timeout"
    case orientation = "the device has another orientation"
    case otherUser = "another user is on the device"
    case offline = "its content could not be requested: the device is offline"
    case started = "the app was started again, and the stack is in memory only"
    case stackFull = "200 messages wait already"
    case undefined = "its definition is no longer there"

    // Shown and closed.
    case control = "a control variant: its impression is logged, and nothing is shown"
    case customView = "a view of the app, which logs impressions and clicks by hand"
    case impression = "the app logged its impression"
    case click = "the app logged a click on it"
    case clicked = "the user clicked it"

    package var description: String { rawValue }
}
