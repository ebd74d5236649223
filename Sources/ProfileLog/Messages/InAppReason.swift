/// Why an in-app message went no further, or what is special about it: fixed sentences, for `MessageStep.reason`.
package enum InAppReason {
    // Ignored.
    package static let beforeStart = "its start time is not over"
    package static let afterEnd = "its end time is over"
    package static let shownBefore = "it was shown and is not eligible again"
    package static let shownLately = "it was shown too short a time ago to be eligible again"
    package static let onScreen = "it is on the screen"
    package static let waitsAlready = "it was triggered before and waits"
    package static let lowerPriority = "the event triggered a message with a higher priority"
    package static let interval = "another message was triggered within the minimum interval"

    // Waiting.
    package static let delay = "its delay is not over"
    package static let request = "its content is requested"
    package static let background = "the app is in the background"
    package static let anotherVisible = "another message is on the screen"
    package static let automaticOff = "automatic display is off"
    package static let reenqueued = "the delegate put it back on the stack"

    // Discarded.
    package static let delegate = "the delegate discarded it"
    package static let asset = "an asset could not be downloaded"
    package static let late = "it was ready after its timeout"
    package static let orientation = "the device has another orientation"
    package static let otherUser = "another user is on the device"
    package static let offline = "its content could not be requested: the device is offline"
    package static let started = "the app was started again, and the stack is in memory only"
    package static let stackFull = "200 messages wait already"
    package static let undefined = "its definition is no longer there"

    // Shown and closed.
    package static let control = "a control variant: its impression is logged, and nothing is shown"
    package static let customView = "a view of the app, which logs impressions and clicks by hand"
    package static let impression = "the app logged its impression"
    package static let click = "the app logged a click on it"
    package static let clicked = "the user clicked it"
}
