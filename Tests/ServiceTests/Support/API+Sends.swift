import ProfileLog
import TestSupport

@testable import ProfileLogBrazeAPI
@testable import ProfileLogRequests

extension API {
    /// The steps of messages in a user's history, and the devices on which they happened.
    func messageSteps(of user: String) throws -> [(step: MessageStep, device: String?)] {
        guard let info = try log.find(.externalID(user)) else { return [] }
        return try log.history(of: info.number).compactMap { recorded in
            guard case .message(let step) = recorded.event else { return nil }
            return (step, recorded.context.device)
        }
    }

    /// `stage channel reason-or-target` of each step.
    func sends(to user: String) throws -> [String] {
        try messageSteps(of: user).map { step, device in
            let what = step.reason ?? device ?? AttributeValue.object(step.content)["to"]?.text
            return "\(step.stage) \(step.channel.name) \(what ?? "")"
        }
    }
}
