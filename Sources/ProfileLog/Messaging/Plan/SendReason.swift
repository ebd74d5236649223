/// The reason why a message is not sent to a user. docs/scenarios.md lists these reasons.
package enum SendReason: String, StepReason {
    case noPushToken = "the user has no push token"
    case noEmailAddress = "the user has no e-mail address"
    case noPhoneNumber = "the user has no phone number"
    case unsubscribed = "unsubscribed"
    /// One address gets a message once, and one device.
    case sentToAnother = "another user of the send has the same address"
    case notInGroup = "unsubscribed: the user is not in the subscription group"
    /// The state of the subscription.
    case notOptedIn = "not opted in: the user is …"
    case channelNotSimulated = "the channel is not simulated"
    /// A test asked for it.
    case channelFails = "the channel fails, as it was told to"
    /// The step's name.
    case laterStep = "step '…' of the canvas is not simulated"
    /// The channel, and what stopped its template.
    case notRendered = "…: …"
    /// The channel, and why.
    case notStorable = "…: what was rendered cannot be stored: …"
}

/// The reason why a recipient of a request gets nothing, in `dropped` of its answer. docs/scenarios.md lists them.
package enum RecipientReason: String, CaseIterable {
    case unknownUser = "unknown user"
    case attributesRefused = "unknown user, whose attributes were refused"
    case noneLeft = "'prioritization' leaves no user with the address"
    case severalLeft = "'prioritization' leaves several users with the address"
    case namedAgain = "is named again later in the request"
    case notInSegment = "is not in the segment"
    case notInAudience = "is not in the audience"
}
