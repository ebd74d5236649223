import ProfileLog
import Testing

@testable import ProfileLogFolds
@testable import ProfileLogMachines

@Suite("Pushes on a device")
struct PushMachineTests {
    typealias Payload = MachineRun.Payload

    /// A device with the app in the foreground.
    private func launched(_ change: (inout PushSettings) -> Void = { _ in }) -> MachineRun {
        var run = MachineRun()
        run.set { change(&$0.push) }
        run.launch("d", .cold)
        return run
    }

    private func stages(_ run: MachineRun) -> [MessageStep.Stage] { run.steps().map(\.step.stage) }

    // MARK: - Delivery

    @Test("A push is received and shown; its cause is what was sent")
    func received() {
        var run = launched()
        let sent = run.send(Payload())
        let received = run.deliver()
        #expect(received.map(\.stage) == [.received])
        #expect(received.first?.cause?.rawValue == sent)
        #expect(received.first?.screen == .notification)
        #expect(run.deliver().isEmpty, "it is delivered once")
    }

    @Test("Offline, pushes wait; later the newest of one collapse ID is delivered, and none that expired")
    func offline() {
        var run = launched()
        run.set { $0.isOnline = false }
        run.send(Payload(collapseID: "score"))
        run.send(Payload(expiry: "2027-01-15T08:00:30Z"))
        run.send(Payload())
        run.send(Payload(collapseID: "score"))
        #expect(run.deliver().isEmpty)
        run.now += 60_000_000  // 1,800,000,000 s is 2027-01-15T08:00:00Z
        run.set { $0.isOnline = true }
        let steps = run.deliver()
        #expect(steps.map(\.stage) == [.notReceived, .notReceived, .received, .received])
        #expect(steps[0].reason == "a later push with the same collapse ID replaced it on its way")
        #expect(steps[1].reason == "it expired before it could be delivered")
    }

    @Test("A push takes the place of one with its collapse ID on the screen")
    func replaced() {
        var run = launched()
        run.send(Payload(collapseID: "score"))
        run.deliver()
        run.send(Payload(collapseID: "score"))
        #expect(run.deliver().map(\.stage) == [.dismissed, .received])
        #expect(run.devices["d"]?.status.pushes.pushes.count == 1)
    }

    @Test("Time to live counts from the sending")
    func timeToLive() {
        let content: [AttributeValue.Member] = [.init("time_to_live", .int(10))]
        let push = DeliveredPush(MessageStep(.sent, of: "", by: .androidPush, content: content), sentAt: 5)
        #expect(push.expiry == 10_000_005)
    }

    @Test("Without permission nothing is shown; before the question there is no token")
    func permission() {
        var denied = launched { $0.permission = .denied }
        denied.send(Payload())
        denied.send(Payload(wakesApp: true))
        denied.send(.silent())
        let steps = denied.deliver()
        #expect(steps.map(\.stage) == [.notReceived, .received, .received])
        #expect(steps.map(\.screen) == [.nothing, .nothing, .nothing])
        #expect(steps[0].reason == "the user does not allow the app to show pushes")
        #expect(steps[1].reason == steps[0].reason && steps[2].reason == nil)
        var unasked = launched { $0.permission = .notAsked }
        unasked.send(.silent())
        #expect(unasked.deliver().first?.reason == "the device has no push token: the app has not asked for permission")
    }

    @Test("A silent push does not start an app that was swiped away or never launched; a visible one is shown")
    func forceQuit() {
        var run = MachineRun()
        run.send(.silent())
        #expect(
            run.deliver().first?.reason == "a silent push does not start an app that was never launched")
        run.launch("d", .cold)
        run.push(.forceQuit)
        #expect(run.devices["d"]?.status.isInForeground == false)
        run.send(.silent())
        run.send(Payload())
        let steps = run.deliver()
        #expect(steps.map(\.stage) == [.notReceived, .received])
        #expect(steps[0].reason == "a silent push does not start an app that the user swiped away")
        run.launch("d", .cold)
        run.send(.silent())
        #expect(run.deliver().map(\.stage) == [.received])
    }

    @Test("The oldest notification goes when the device shows too many")
    func tooMany() {
        var run = launched()
        for _ in 0..<PushState.mostShown + 5 { run.send(Payload()) }
        run.deliver()
        let pushes = run.devices["d"]?.status.pushes.pushes ?? []
        #expect(pushes.count == PushState.mostShown)
        #expect(stages(run).count { $0 == .dismissed } == 5)
    }

    // MARK: - Opening

    @Test(
        "A tap opens the app and the link, from wherever the app is", arguments: ["foreground", "background", "quit"])
    func opened(place: String) {
        var run = launched()
        if place == "background" { run.handle(.leave, "d") }
        if place == "quit" { run.push(.forceQuit) }
        run.send(Payload(link: "app://cart"))
        run.deliver()
        let before = run.events.count
        let opened = run.push(.open(.newest))
        #expect(opened?.first?.content == [.init("url", "app://cart")])
        let launches = run.events[before...].compactMap { event in
            if case .appLaunched(let kind, _) = event.event { kind } else { nil }
        }
        #expect(launches == ["foreground": [], "background": [.return], "quit": [.cold]][place])
        #expect(run.devices["d"]?.status.isInForeground == true)
        #expect(run.push(.open(.newest)) == nil, "it is gone")
    }

    @Test("What is on its way, gone or unknown can be neither opened nor dismissed")
    func notThere() {
        var run = launched()
        let sent = run.send(Payload())
        #expect(run.push(.open(.at(sent))) == nil)
        run.deliver()
        #expect(run.push(.dismiss(.at(sent)))?.map(\.stage) == [.dismissed])
        #expect(run.push(.open(.at(sent))) == nil && run.push(.dismiss(.newest)) == nil)
    }

    @Test("A push that is not Braze's is shown, and the SDK does nothing with it")
    func foreign() {
        var run = launched { $0.startup.isDelayed = true }
        run.send(Payload(isBrazes: false, wakesApp: true, link: "app://cart"))
        let received = run.deliver()
        #expect(received.map(\.stage) == [.received])
        let opened = run.push(.open(.newest))
        #expect(opened?.map(\.stage) == [.opened])
        #expect(opened?.first?.content.isEmpty == true)
        #expect(opened?.first?.reason == "it is not one of Braze's: the SDK leaves it to the app")
    }

    // MARK: - The content extension

    private func withExtension(
        _ change: (inout ContentExtension) -> Void = { _ in }
    ) -> MachineRun {
        var contentExtension = ContentExtension(categories: ["certification"])
        contentExtension.allowsInteraction = true
        change(&contentExtension)
        return launched { $0.contentExtension = contentExtension }
    }

    @Test("Each way of expanding shows the extension of the category", arguments: Expansion.allCases)
    func expanded(way: Expansion) {
        var run = withExtension()
        run.send(Payload(category: "certification"))
        run.deliver()
        let step = run.push(.expand(.newest, way))?.first
        #expect(step?.screen == .extensionInterface)
        #expect(step?.content == [.init("way", .string(way.rawValue))])
        #expect(run.push(.expand(.newest, way)) == nil, "it is expanded already")
    }

    @Test(
        "Without the extension's category the default interface is shown",
        arguments: [
            (nil, "the push has no category, the extension is for certification"),
            ("game", "the push has the category game, the extension is for certification"),
        ] as [(String?, String)])
    func mismatch(category: String?, reason: String) {
        var run = withExtension()
        run.send(Payload(category: category))
        run.deliver()
        let step = run.push(.expand(.newest, .longPress))?.first
        #expect(step?.screen == .defaultInterface)
        #expect(step?.reason == "the default interface: \(reason)")
        var without = launched()
        without.send(Payload(category: category))
        without.deliver()
        #expect(
            without.push(.expand(.newest, .longPress))?.first?.reason
                == "the default interface: the app has no content extension")
    }

    @Test("A missing key-value pair is named, and the default interface is shown")
    func pairs() {
        var run = withExtension {
            $0.pairs = [.init("cert_title"), .init("completed_session_count", isNumber: true)]
        }
        let pushes: [([Name: AttributeValue], String?)] = [
            ([:], "the push has no key-value pair cert_title"),
            (
                ["cert_title": "Swift", "completed_session_count": "two"],
                "the key-value pair completed_session_count of the push is no number"
            ),
            (["cert_title": "Swift", "completed_session_count": "2"], nil),
        ]
        for (pairs, reason) in pushes {
            run.send(Payload(category: "certification", pairs: pairs))
            run.deliver()
            let step = run.push(.expand(.newest, .view))?.first
            #expect(step?.screen == (reason == nil ? .extensionInterface : .defaultInterface))
            if let reason { #expect(step?.reason == "the default interface: the extension stopped, as \(reason)") }
        }
    }

    @Test(
        "The guard of the Swift code asks for a text; the Objective-C code only that the pair is there",
        arguments: [
            (.int(1), "the key-value pair title of the push is no text, as the guard of the Swift code asks", nil),
            (.bool(true), "the key-value pair title of the push is no text, as the guard of the Swift code asks", nil),
            ("Swift", nil, nil),
            (.null, "the push has no key-value pair title", "the push has no key-value pair title"),
        ] as [(AttributeValue, String?, String?)])
    func languages(value: AttributeValue, swift: String?, objectiveC: String?) {
        for (language, reason) in [(ContentExtension.Language.swift, swift), (.objectiveC, objectiveC)] {
            var run = withExtension {
                $0.pairs = [.init("title")]
                $0.language = language
            }
            run.send(Payload(category: "certification", pairs: ["title": value]))
            run.deliver()
            let step = run.push(.expand(.newest, .view))?.first
            let said = reason.map { "the default interface: the extension stopped, as \($0)" }
            #expect(step?.reason == said ?? "the interface of the content extension", "\(language)")
        }
    }

    @Test(
        "Without text there is no banner, and nothing to open",
        arguments: [
            (nil, ["badge": .int(1)], "only a badge"), (nil, ["sound": "default"], "only a sound"),
            ("", ["badge": .int(1), "sound": "default"], "only a badge and a sound"), (nil, [:], "nothing"),
            (.object([.init("body", "")]), ["badge": .int(0)], "only a badge"),
            (nil, ["badge": "2"], "nothing"),
        ] as [(AttributeValue?, [Name: AttributeValue], String)])
    func noBanner(alert: AttributeValue?, aps: [Name: AttributeValue], instead: String) {
        var run = launched()
        run.send(Payload(alert: alert, aps: aps))
        let received = run.deliver().first
        #expect(received?.stage == .received && received?.screen == .nothing)
        #expect(received?.reason == "it has no alert, so there is no banner: \(instead)")
        #expect(run.devices["d"]?.status.pushes.pushes.isEmpty == true)
        #expect(run.push(.open(.newest)) == nil && run.push(.expand(.newest, .view)) == nil)
        run.send(Payload(alert: .object([.init("title-loc-key", "HELLO")]), aps: aps))
        #expect(run.deliver().first?.screen == .notification)
    }

    @Test("A badge with content-available is not silent: it reaches an app that was swiped away")
    func badgeIsNotSilent() {
        var run = launched()
        run.push(.forceQuit)
        run.send(Payload(alert: nil, wakesApp: true, aps: ["badge": .int(1)]))
        run.send(.silent())
        #expect(run.deliver().map(\.stage) == [.received, .notReceived])
    }

    // MARK: - The app removed

    @Test("With the app goes what waits, what is shown and what was captured, each with a step that says so")
    func removed() {
        var run = MachineRun()
        run.set { $0.push.startup.isDelayed = true }
        run.launch("d", .cold)
        run.send(.silent())
        run.send(Payload())
        run.deliver()
        run.save(on: "d", by: "push", into: .appGroup("group.a"), list: .customEvents, isValid: true)
        let item = run.position
        let user = run.devices["d"]?.user
        let steps = run.push(.removeApp)
        #expect(steps?.map(\.stage) == [.dismissed, .processed])
        #expect(steps?.allSatisfy { $0.reason == "the app was removed" } == true)
        #expect(run.items[item] == .discarded)
        let status = run.devices["d"]?.status ?? DeviceStatus()
        #expect(status.isRemoved && status.user == nil && status.launch == 0 && status.pushes.isEmpty)
        #expect(run.push(.removeApp)?.isEmpty == true, "once")
        run.send(Payload())
        #expect(run.deliver().first?.reason == "the app was removed from the device")
        run.launch("d", .return)
        #expect(run.devices["d"]?.status.isRemoved == false)
        #expect(run.devices["d"]?.user != nil && run.devices["d"]?.user != user, "another anonymous user")
        #expect(run.devices["d"]?.settings.push.permission == .notAsked)
    }

    @Test("Before the first unlock a launch flushes nothing, and finishes no launch that died")
    func locked() {
        var run = MachineRun()
        run.save(on: "d", by: "push", into: .appGroup("group.a"), list: .customEvents, isValid: true)
        let item = run.position
        run.launch("d", .cold, dyingAfter: 1)
        run.handle(.leave, "d")
        run.launch("d", .locked)
        #expect(run.items[item] == .waiting)
        #expect(run.devices["d"]?.status.isInForeground == false)
        run.launch("d", .cold)
        #expect(run.items[item] == .delivered)
    }

    @Test("An information capture: asks, takes valid input, confirms, is dismissed")
    func capture() {
        var run = withExtension { $0.input = .email }
        run.send(Payload(category: "certification"))
        run.deliver()
        #expect(run.push(.input(.newest, "ana@example.com")) == nil, "it is not expanded")
        run.push(.expand(.newest, .longPress))
        #expect(run.push(.act(.newest, action: "REGISTER", nil)) == nil, "the button is not shown")
        let bad = run.push(.input(.newest, "ana"))?.first
        #expect(bad?.screen == .extensionInterface && bad?.reason == "the input is no e-mail address")
        #expect(run.push(.input(.newest, "ana@example.com"))?.first?.screen == .validInput)
        #expect(run.push(.act(.newest, action: "REGISTER", nil))?.map(\.screen) == [.confirmation])
        #expect(run.push(.act(.newest, action: "CLOSE", nil))?.map(\.stage) == [.actionChosen, .dismissed])
        #expect(run.steps().allSatisfy { !"\($0.step)".contains("ana") }, "input is not kept")
    }

    @Test("Without user interaction a touch opens the app")
    func interaction() {
        var run = withExtension {
            $0.allowsInteraction = false
            $0.input = .email
        }
        run.send(Payload(category: "certification"))
        run.deliver()
        run.push(.expand(.newest, .longPress))
        let steps = run.push(.input(.newest, "ana@example.com"))
        #expect(steps?.map(\.stage) == [.opened])
        #expect(steps?.first?.reason == "the extension has no user interaction: the touch opened the app")
    }

    @Test("Each answer of the extension to an action", arguments: ExtensionResponse.allCases)
    func responses(response: ExtensionResponse) {
        var run = withExtension()
        run.send(Payload(category: "certification"))
        run.deliver()
        run.push(.expand(.newest, .longPress))
        let steps = run.push(.act(.newest, action: "REGISTER", response)) ?? []
        let expected: [MessageStep.Stage] =
            switch response {
            case .dismiss: [.actionChosen, .dismissed]
            case .doNotDismiss, .never: [.actionChosen]
            case .dismissAndForward: [.actionChosen, .opened]
            }
        #expect(steps.map(\.stage) == expected)
        let isShown = response == .doNotDismiss || response == .never
        #expect(run.devices["d"]?.status.pushes.pushes.isEmpty == !isShown)
        #expect((steps[0].reason != nil) == (response == .never))
        #expect(steps.allSatisfy { $0.stage == .dismissed || $0.action == "REGISTER" })
    }

    @Test("The buttons of a push: one opens its link, one closes, others are refused")
    func buttons() {
        func run() -> MachineRun {
            var run = launched()
            let buttons = [("ab_pb_accept", "OPEN_APP"), ("ab_pb_decline", "CLOSE")]
            run.send(Payload(category: "ab_cat_accept_decline", buttons: buttons))
            run.deliver()
            return run
        }
        var first = run()
        #expect(first.push(.act(.newest, action: "ab_pb_accept", nil)) == nil, "buttons are shown when it is expanded")
        first.push(.expand(.newest, .longPress))
        #expect(first.push(.act(.newest, action: "ab_pb_other", nil)) == nil)
        var bare = launched()
        bare.send(Payload())
        bare.deliver()
        bare.push(.expand(.newest, .longPress))
        #expect(bare.push(.act(.newest, action: "ab_pb_accept", nil)) == nil, "it has no button")
        #expect(first.push(.act(.newest, action: "ab_pb_accept", .dismiss)) == nil, "no extension answers")
        #expect(first.push(.act(.newest, action: "ab_pb_accept", nil))?.map(\.stage) == [.actionChosen, .opened])
        var second = run()
        second.push(.expand(.newest, .longPress))
        #expect(second.push(.act(.newest, action: "ab_pb_decline", nil))?.map(\.stage) == [.actionChosen, .dismissed])
    }
}
