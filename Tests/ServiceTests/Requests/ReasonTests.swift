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
            InAppReason.allCases.map(\.rawValue) + PushObstacle.allCases.map(\.rawValue)
            + PushRemark.allCases.map(\.rawValue) + SendObstacle.allCases.map(\.rawValue)
            + SkippedRecipient.allCases.map(\.rawValue)
        for reason in reasons { #expect(table.contains("`\(reason)`"), "\(reason)") }
        #expect(table.count { $0 == "`" } == 2 * (reasons.count + 23), "one that does not exist")
    }

    @Test("A reason has its parts in its gaps")
    func parts() {
        #expect(SendObstacle.notRendered.reason("email", "aborted") == "email: aborted")
        #expect(SendObstacle.laterStep.reason("Day 2") == "step 'Day 2' of the canvas is not simulated")
        #expect(SendObstacle.notOptedIn.reason("subscribed") == "not opted in: the user is subscribed")
        #expect(SendObstacle.unsubscribed.reason() == "unsubscribed")
        #expect(PushRemark.closed.reason("CLOSE") == "CLOSE closes it")
    }
}
