import ProfileLog
import Testing

@testable import ProfileLogFolds
@testable import ProfileLogMachines

@Suite("Delayed initialization, and server events as pushes")
struct DelayedInitializationTests {
    typealias Payload = MachineRun.Payload

    /// A device whose app waits with the SDK.
    private func delayed(_ change: (inout SDKStartup) -> Void = { _ in }) -> MachineRun {
        var run = MachineRun()
        run.set {
            $0.push.startup.isDelayed = true
            change(&$0.push.startup)
        }
        run.launch("d", .cold)
        return run
    }

    private func hasSession(_ run: MachineRun) -> Bool { run.devices["d"]?.session != nil }

    @Test("Received and opened pushes wait for the SDK, and are processed once it exists, with their link")
    func captured() {
        var run = delayed()
        run.send(.silent())
        run.send(Payload(link: "app://cart"))
        #expect(run.deliver().map(\.stage) == [.received, .captured, .received])
        let opened = run.push(.open(.newest))
        #expect(opened?.map(\.stage) == [.opened, .captured])
        #expect(opened?.first?.content.isEmpty == true, "the link opens after the initialization")
        #expect(!hasSession(run))
        let processed = run.push(.initialize) ?? []
        #expect(processed.map(\.stage) == [.processed, .processed])
        #expect(processed.last?.content == [.init("url", "app://cart")])
        #expect(hasSession(run))
        #expect(run.push(.initialize)?.isEmpty == true, "once")
    }

    @Test("A push that wakes the app and is then opened is captured twice")
    func twice() {
        var run = delayed()
        let sent = run.send(Payload(wakesApp: true))
        run.deliver()
        run.push(.open(.newest))
        #expect(run.steps().map(\.step.stage) == [.sent, .received, .captured, .opened, .captured])
        #expect(run.steps().allSatisfy { run.origin(of: $0.position) == sent })
        #expect(run.push(.initialize)?.count == 2)
    }

    @Test("An app that did not prepare, or too late for the push that launched it, loses that")
    func unprepared() {
        var never = delayed { $0.preparation = .never }
        never.send(Payload(wakesApp: true))
        #expect(never.deliver().map(\.stage) == [.received])
        #expect(
            never.push(.open(.newest))?.first?.reason
                == "the SDK does not exist yet, and the app did not prepare for that")
        #expect(never.push(.initialize)?.isEmpty == true)

        var late = delayed { $0.preparation = .tooLate }
        late.push(.forceQuit)
        late.send(Payload(link: "app://cart"))
        late.deliver()
        let lost = late.push(.open(.newest))
        #expect(lost?.map(\.stage) == [.opened])
        #expect(lost?.first?.reason?.contains("too late") == true)
        late.send(Payload())
        late.deliver()
        #expect(late.push(.open(.newest))?.map(\.stage) == [.opened, .captured], "by now the app has prepared")
    }

    @Test("Push automation captures what it was told to")
    func automation() {
        var run = delayed { $0.automation = [.opened] }
        run.send(Payload(wakesApp: true))
        let received = run.deliver()
        #expect(received.map(\.stage) == [.received])
        #expect(
            received.first?.reason
                == "the SDK does not exist yet, and pushAutomation is without handleBackgroundNotification")
        #expect(run.push(.open(.newest))?.map(\.stage) == [.opened, .captured])
    }

    @Test("nil automation does not ask for permission; with the option the launch does")
    func authorization() {
        for automation in [PushAutomation.standard, [.received, .authorization]] {
            var run = MachineRun()
            run.set {
                $0.push.permission = .notAsked
                $0.push.startup.isDelayed = true
                $0.push.startup.automation = automation
            }
            run.launch("d", .background)
            #expect(run.devices["d"]?.settings.push.permission == .notAsked)
            run.launch("d", .cold)
            let isAsked = automation.contains(.authorization)
            #expect(run.devices["d"]?.settings.push.permission == (isAsked ? .granted : .notAsked))
        }
    }

    @Test("Who subscribes too late is not told")
    func subscribers() {
        var run = delayed { $0.subscription = .tooLate }
        run.send(.serverEvent)
        run.deliver()
        let reason = run.push(.initialize)?.first?.reason
        #expect(reason == "the app subscribed too late and was not told of it")
        #expect(run.logged.isEmpty)
        var inTime = delayed()
        inTime.send(.serverEvent)
        inTime.deliver()
        #expect(inTime.logged.isEmpty)
        inTime.push(.initialize)
        #expect(inTime.logged == ["IAM Trigger"])
    }

    @Test("With analyticsBehavior drop the payload is ignored: nothing is captured, and no link opens")
    func dropped() {
        var run = delayed { $0.analytics = .drop }
        let ignored = "the SDK does not exist yet, and ignores the payload (analyticsBehavior: drop)"
        run.send(.serverEvent)
        #expect(run.deliver().map(\.reason) == [ignored])
        run.send(Payload(link: "app://cart"))
        run.deliver()
        let opened = run.push(.open(.newest))
        #expect(opened?.map(\.stage) == [.opened] && opened?.first?.reason == ignored)
        #expect(opened?.first?.content.isEmpty == true)
        #expect(run.push(.initialize)?.isEmpty == true)
        #expect(run.logged.isEmpty)
        run.send(Payload(link: "app://cart"))
        run.deliver()
        #expect(run.push(.open(.newest))?.first?.content == [.init("url", "app://cart")], "now it exists")
    }

    @Test(
        "Under push automation no delegate method is called for Braze's pushes: its handler logs nothing",
        arguments: [
            (SDKStartup.Subscription.never, PushAutomation.standard, true, false),
            (.never, [.opened], true, true), (.never, .standard, false, true), (.inTime, .standard, true, true),
            (.tooLate, .standard, true, true),
        ] as [(SDKStartup.Subscription, PushAutomation, Bool, Bool)])
    func delegate(
        subscription: SDKStartup.Subscription, automation: PushAutomation, isBrazes: Bool, isCalled: Bool
    ) {
        var run = delayed {
            $0.subscription = subscription
            $0.automation = automation
        }
        run.push(.initialize)
        var payload = Payload.serverEvent
        payload.isBrazes = isBrazes
        run.send(payload)
        let reason = run.deliver().first?.reason ?? ""
        #expect(run.logged == (isCalled ? ["IAM Trigger"] : []), "\(reason)")
        #expect(reason.contains("the delegate method with the handler of server events is not called") != isCalled)
    }

    @Test("A captured push is not told to a delegate method either")
    func delegateLater() {
        var run = delayed { $0.subscription = .never }
        run.send(.serverEvent)
        run.deliver()
        let processed = run.push(.initialize)
        #expect(processed?.map(\.stage) == [.processed])
        #expect(processed?.first?.reason?.contains("is not called") == true)
        #expect(run.logged.isEmpty)
    }

    @Test("A new process has no SDK again; coming back to the same one has it still")
    func processes() {
        var run = delayed()
        run.push(.initialize)
        run.handle(.leave, "d")
        run.launch("d", .return)
        #expect(run.devices["d"]?.settings.push.hasInstance == true)
        run.launch("d", .cold)
        #expect(run.devices["d"]?.settings.push.hasInstance == false)
        run.push(.initialize)
        run.push(.forceQuit)
        #expect(run.devices["d"]?.settings.push.hasInstance == false)
    }

    @Test("A launch of an app that does not wait any more leaves nothing captured behind")
    func noLongerDelayed() {
        var run = delayed()
        run.send(.silent())
        run.deliver()
        run.set { $0.push.startup.isDelayed = false }
        run.launch("d", .cold)
        #expect(run.devices["d"]?.status.hasProcessible == true)
        #expect(run.push(.initialize)?.map(\.stage) == [.processed])
        #expect(run.devices["d"]?.status.hasProcessible == false)
    }

    @Test("What was saved waits until the SDK exists")
    func pending() {
        var run = MachineRun()
        run.set { $0.push.startup.isDelayed = true }
        run.save(on: "d", by: "push", into: .appGroup("group.a"), list: .customEvents, isValid: true)
        let item = run.position
        run.launch("d", .cold)
        #expect(run.items[item] == .waiting)
        run.push(.initialize)
        run.launch("d", .return)
        #expect(run.items[item] == .delivered)
    }

    // MARK: - Server events

    private func launched(_ handler: ServerEventHandler = .swift) -> MachineRun {
        var run = MachineRun()
        run.set { $0.push.serverEvents = handler }
        run.launch("d", .cold)
        return run
    }

    @Test("A silent push with both extras logs IAM Trigger, and says that it counts twice")
    func serverEvent() {
        var run = launched()
        run.send(.serverEvent)
        let step = run.deliver().first
        #expect(step?.reason == "the app logs IAM Trigger, which is counted besides the server's event")
        #expect(run.logged == ["IAM Trigger"])
        guard case .customEventLogged(let event) = run.events.last?.event else {
            Issue.record("nothing was logged")
            return
        }
        #expect(event.properties == [.init("campaign_name", "spring")])
    }

    @Test("A server event in the background is logged too, and no message can be shown")
    func background() {
        var run = launched()
        run.handle(.leave, "d")
        run.send(.serverEvent)
        #expect(
            run.deliver().first?.reason?.hasSuffix("the app is not in the foreground, so no message is shown") == true)
        #expect(run.logged == ["IAM Trigger"])
    }

    @Test(
        "What each language takes for a server event",
        arguments: [
            ("true", true, true), ("false", true, true), (.bool(false), false, true), (.int(0), false, true),
            (.null, false, false), (nil, false, false),
        ] as [(AttributeValue?, Bool, Bool)])
    func truthiness(flag: AttributeValue?, swift: Bool, objectiveC: Bool) {
        for (handler, fires) in [(ServerEventHandler.swift, swift), (.objectiveC, objectiveC), (.off, false)] {
            var run = launched(handler)
            var pairs: [Name: AttributeValue] = ["CAMPAIGN_NAME": "spring"]
            pairs["IS_SERVER_EVENT"] = flag
            run.send(.silent(pairs))
            let reason = run.deliver().first?.reason
            #expect(run.logged == (fires ? ["IAM Trigger"] : []), "\(handler)")
            let isQuirk = fires && flag != "true"
            #expect((reason?.contains("asks only that IS_SERVER_EVENT is there") ?? false) == isQuirk)
        }
    }

    @Test(
        "A push that is no server event after all says why",
        arguments: [
            (["IS_SERVER_EVENT": .bool(true), "CAMPAIGN_NAME": "C"], .swift, true, "IS_SERVER_EVENT is not a text"),
            (["IS_SERVER_EVENT": "true", "CAMPAIGN_NAME": .int(1)], .swift, true, "CAMPAIGN_NAME is not a text"),
            (["IS_SERVER_EVENT": "true"], .swift, true, "the push has no CAMPAIGN_NAME"),
            (["CAMPAIGN_NAME": "C"], .objectiveC, true, "the push has no IS_SERVER_EVENT"),
            (["IS_SERVER_EVENT": "true", "CAMPAIGN_NAME": "C"], .off, true, "the app has no handler of server events"),
            (["IS_SERVER_EVENT": "true", "CAMPAIGN_NAME": "C"], .swift, false, "the push does not wake the app"),
        ] as [([Name: AttributeValue], ServerEventHandler, Bool, String)])
    func unseen(pairs: [Name: AttributeValue], handler: ServerEventHandler, wakes: Bool, reason: String) {
        var run = launched(handler)
        run.send(Payload(alert: wakes ? nil : "Hi", wakesApp: wakes, pairs: pairs))
        let said = run.deliver().first?.reason ?? ""
        #expect(said.contains(reason), "\(said)")
        #expect(run.logged.isEmpty)
    }

    @Test("A disabled SDK logs nothing, and a queue that is not empty takes the event")
    func queues() {
        var disabled = launched()
        disabled.set { $0.isSDKEnabled = false }
        disabled.send(.serverEvent)
        #expect(disabled.deliver().first?.reason == "the SDK is disabled")
        #expect(disabled.logged.isEmpty)
        var manual = launched()
        manual.set { $0.requestPolicy = .manual }
        manual.send(.serverEvent)
        manual.deliver()
        #expect(manual.devices["d"]?.queued.count == 1)
    }
}
