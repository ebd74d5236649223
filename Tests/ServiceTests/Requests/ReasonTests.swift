import Foundation
import ProfileLogMachines
import ProfileLogMessaging
import TestSupport
import Testing

@testable import ProfileLogBrazeAPI

@Suite("Why a message was not sent or shown")
struct ReasonTests {
    @Test("docs/scenarios.md has each reason in its table")
    func documented() throws {
        let text = try Repository.text("docs/scenarios.md")
        let section = try #require(
            text.components(separatedBy: "### Why nothing was sent or shown\n").dropFirst().first)
        let table = section.components(separatedBy: "\n##")[0]
        let reasons =
            InAppReason.allCases.map(\.rawValue) + LostPushReason.allCases.map(\.rawValue)
            + PushReason.allCases.map(\.rawValue) + SendReason.allCases.map(\.rawValue)
            + RecipientReason.allCases.map(\.rawValue)
        for reason in reasons { #expect(table.contains("`\(reason)`"), "\(reason)") }
        #expect(table.count { $0 == "`" } == 2 * (reasons.count + 24), "one that does not exist")
    }

    @Test("A reason has its parts in its gaps")
    func parts() {
        #expect(SendReason.notRendered.reason("email", "aborted") == "email: aborted")
        #expect(SendReason.laterStep.reason("Day 2") == "step 'Day 2' of the canvas is not simulated")
        #expect(SendReason.notOptedIn.reason("subscribed") == "not opted in: the user is subscribed")
        #expect(SendReason.unsubscribed.reason() == "unsubscribed")
        #expect(PushReason.closed.reason("CLOSE") == "CLOSE closes it")
    }
}
