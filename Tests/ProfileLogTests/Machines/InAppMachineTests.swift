import ProfileLogMachines
import Testing

@Suite("In-app messages: the machine")
struct InAppMachineTests {
    private typealias Reason = InAppReason

    // MARK: - Triggers

    @Test("An event shows its message")
    func shown() throws {
        var run = try InAppRun([.on("a"), .on("b")])
        #expect(run.log("a") == ["shown a"])
        #expect(run.state.screen?.message == "a")
    }

    @Test("An event that triggers nothing is a miss")
    func miss() throws {
        var run = try InAppRun([.on("a")])
        let other = run.send(.event(.customEvent(CustomEvent(name: "other"))))
        #expect(other.isMiss && other.steps.isEmpty)
        #expect(run.send(.event(.customEvent(CustomEvent(name: "a")))).isMiss == false)
    }

    @Test("The highest priority is shown, of equal ones the first; the others are ignored")
    func priority() throws {
        var run = try InAppRun([
            .on("a", event: "e"), .on("c", event: "e", priority: 2), .on("b", event: "e", priority: 2),
        ])
        #expect(
            run.log("e") == ["shown c", "ignored b: \(Reason.lowerPriority)", "ignored a: \(Reason.lowerPriority)"])
    }

    @Test("Of many ignored messages, 20 have a step each, and the last one lists the others")
    func manyIgnored() throws {
        let messages = try (10..<40).map { try InAppMessage.on(Name("m\($0)"), event: "e", priority: -Double($0)) }
        var run = try InAppRun(messages)
        let steps = run.send(.event(.customEvent(CustomEvent(name: "e")))).steps
        #expect(steps.map(\.message.text) == (10...30).map { "m\($0)" })
        let others = steps.map { AttributeValue.object($0.content)["others"] }
        #expect(others.dropLast().allSatisfy { $0 == nil })
        #expect(others.last == .array((31..<40).map { .string("m\($0)") }))
    }

    @Test("Triggers within the minimum interval are ignored and not queued", arguments: [(29, false), (30, true)])
    func interval(seconds: Int64, isShown: Bool) throws {
        var run = try InAppRun([.on("a"), .on("b")])
        run.log("a")
        run.words(.close)
        run.now += seconds
        #expect(run.log("b") == [isShown ? "shown b" : "ignored b: \(Reason.interval)"])
        #expect(run.state.stack.isEmpty)
    }

    @Test("The interval can be 0")
    func noInterval() throws {
        var run = try InAppRun([.on("a"), .on("b")])
        run.device.settings.minimumInterval = 0
        run.log("a")
        run.words(.close)
        #expect(run.log("b") == ["shown b"])
    }

    @Test("An ignored trigger does not start the interval")
    func ignoredInterval() throws {
        var run = try InAppRun([.on("a"), .on("b")])
        run.log("a")
        run.words(.close)
        run.now += 20
        run.log("b")
        run.now += 10
        #expect(run.log("b") == ["shown b"])
    }

    @Test("A message is triggered after its start and before its end")
    func window() throws {
        var run = try InAppRun([.on("a", startTime: 1_000, endTime: 1_060)])
        #expect(run.log("a") == ["ignored a: \(Reason.beforeStart)"])
        run.now = 1_001
        #expect(run.log("a") == ["shown a"])
        run.words(.close)
        run.now = 1_060
        #expect(run.log("a") == ["ignored a: \(Reason.afterEnd)"])
    }

    @Test("Once, always, or some seconds after the last display")
    func reEligibility() throws {
        var run = try InAppRun([.on("once", reEligibility: -1), .on("always"), .on("later", reEligibility: 100)])
        for name: Name in ["once", "always", "later"] {
            #expect(run.log(name) == ["shown \(name)"])
            run.words(.close)
            run.now += 30
        }
        #expect(run.log("once") == ["ignored once: \(Reason.shownBefore)"])
        #expect(run.log("always") == ["shown always"])
        run.words(.close)
        run.now += 69
        #expect(run.log("later") == ["ignored later: \(Reason.shownLately)"])
        run.now += 1
        #expect(run.log("later") == ["shown later"])
        #expect(run.state.display(of: "later", to: 1)?.count == 2)
    }

    @Test("What one user saw does not count for another, and is kept over a merge")
    func displaysByUser() throws {
        var run = try InAppRun([.on("a", reEligibility: -1)])
        run.log("a")
        run.words(.close)
        run.now += 30
        run.device.user = 2
        #expect(run.log("a") == ["shown a"])
        run.words(.close)
        run.now += 30
        run.merge(2, into: 3)
        run.device.user = 3
        #expect(run.log("a") == ["ignored a: \(Reason.shownBefore)"])
    }

    @Test("The messages of a session are fixed when it starts")
    func fixed() throws {
        var run = try InAppRun([.on("a"), .on("b")])
        #expect(run.words(.sessionStart(eligible: ["b", "gone"], catalogue: 2)) == ["sent "])
        #expect(run.state.eligible == ["b"])
        #expect(run.state.catalogue == 2)
        #expect(run.log("a").isEmpty)
        #expect(run.words(.sessionStart(eligible: ["b"], catalogue: 2)).isEmpty)
    }

    @Test("A session start triggers, and so does an opened push")
    func occasions() throws {
        var run = try InAppRun([
            InAppMessage(id: "open", triggers: [.sessionStart], reEligibility: 0),
            InAppMessage(id: "push", triggers: [.pushClick(campaign: "spring")], reEligibility: 0),
        ])
        run.words(.close)
        run.now += 30
        #expect(run.words(.event(.pushOpened(campaign: "other"))).isEmpty)
        #expect(run.words(.event(.pushOpened(campaign: "spring"))) == ["shown push"])
        run.words(.close)
        run.now += 30
        #expect(run.words(.sessionStart(eligible: ["open", "push"], catalogue: 1)) == ["shown open"])
    }

    // MARK: - Waiting

    @Test("In the background it waits; when the app comes back with a session, it is shown")
    func background() throws {
        var run = try InAppRun([.on("a")])
        run.device.isForeground = false
        #expect(run.log("a") == ["waiting a: \(Reason.background)"])
        run.device.isForeground = true
        #expect(run.words(.launch(startsProcess: false)).isEmpty)
        #expect(run.words(.sessionStart(eligible: ["a"], catalogue: 1)) == ["shown a"])
    }

    @Test("The stack is last in, first out")
    func stack() throws {
        var run = try InAppRun([.on("a"), .on("b"), .on("c")])
        for (name, word) in [("a", "shown a"), ("b", "waiting b"), ("c", "waiting c")] {
            #expect(run.log(Name(name)).first?.hasPrefix(word) == true)
            run.now += 30
        }
        #expect(run.words(.next) == ["waiting c: \(Reason.anotherVisible)"])
        run.words(.close)
        #expect(run.words(.next) == ["shown c"])
        run.words(.close)
        #expect(run.words(.event(.pushOpened())) == ["shown b"])
        run.words(.close)
        #expect(run.send(.next).refusal == "the stack is empty")
    }

    @Test("A cold start empties the stack, the delays and the screen; a return does not")
    func coldStart() throws {
        var run = try InAppRun([.on("a"), .on("b"), .on("c", delay: 60)])
        for name: Name in ["a", "b", "c"] {
            run.log(name)
            run.now += 30
        }
        #expect(run.words(.launch(startsProcess: false)).isEmpty)
        let why = Reason.started
        #expect(
            run.words(.launch(startsProcess: true)) == [
                "discarded b: \(why)", "discarded c: \(why)", "closed a: \(why)",
            ])
        #expect(run.state.stack.isEmpty && run.state.delayed.isEmpty && run.state.screen == nil)
    }

    @Test("While it waits or is shown, it is not triggered again")
    func twice() throws {
        var run = try InAppRun([.on("a"), .on("b")])
        run.log("a")
        run.now += 30
        #expect(run.log("a") == ["ignored a: \(Reason.onScreen)"])
        run.log("b")
        run.now += 30
        #expect(run.log("b") == ["ignored b: \(Reason.waitsAlready)"])
    }

    @Test("A delay ends on time, and a timeout discards what is ready too late")
    func delay() throws {
        var run = try InAppRun([.on("a", delay: 10, timeout: 5), .on("b", delay: 10, timeout: 5)])
        #expect(run.log("a") == ["waiting a: \(Reason.delay)"])
        #expect(run.state.nextDue == 1_010_000_000)
        #expect(run.wait(9).isEmpty)
        #expect(run.wait(1) == ["shown a"])
        run.words(.close)
        run.now += 30
        run.log("b")
        run.device.isForeground = false
        #expect(run.wait(16).isEmpty)
        run.device.isForeground = true
        #expect(run.words(.launch(startsProcess: false)) == ["discarded b: \(Reason.late)"])
    }

    @Test("A templated message needs a request after its delay, and fails offline or when that is slow")
    func templated() throws {
        var run = try InAppRun([.on("t", kind: .templated, timeout: 3), .on("plain")])
        run.device.isOnline = false
        #expect(run.log("t") == ["discarded t: \(Reason.offline)"])
        run.now += 30
        #expect(run.log("plain") == ["shown plain"])
        run.words(.close)
        run.now += 30
        run.device.isOnline = true
        run.device.settings.requestTime = 3
        #expect(run.log("t") == ["waiting t: \(Reason.request)"])
        #expect(run.wait(3) == ["shown t"])
        run.words(.close)
        run.now += 30
        run.device.settings.requestTime = 4
        run.log("t")
        #expect(run.wait(4) == ["discarded t: \(Reason.late)"])
    }

    @Test("Automatic display off: it waits until the app asks")
    func automaticOff() throws {
        var run = try InAppRun([.on("a")])
        run.device.settings.isDisplayAutomatic = false
        #expect(run.log("a") == ["waiting a: \(Reason.automaticOff)"])
        #expect(run.words(.sessionStart(eligible: ["a"], catalogue: 1)).isEmpty)
        #expect(run.words(.next) == ["shown a"])
    }

    // MARK: - Decisions

    @Test("The delegate shows, puts back or discards; what it discarded may be triggered again")
    func delegate() throws {
        var run = try InAppRun([.on("a")])
        run.device.settings.decisions["a"] = .discard
        #expect(run.log("a") == ["discarded a: \(Reason.delegate)"])
        run.now += 30
        run.device.settings.decisions["a"] = .reenqueue
        #expect(run.log("a") == ["waiting a: \(Reason.reenqueued)"])
        #expect(run.words(.next) == ["waiting a: \(Reason.reenqueued)"])
        #expect(run.state.stack.count == 1)
        run.device.settings.decisions["a"] = .show
        #expect(run.words(.next) == ["shown a"])
    }

    @Test("Discarded: failed assets, the wrong orientation")
    func discarded() throws {
        var run = try InAppRun([
            .on("a", assets: [.init(.image, url: "https://example.com/a.png")]), .on("l", orientation: .landscape),
        ])
        run.device.settings.failingAssets = ["a"]
        #expect(run.log("a") == ["discarded a: \(Reason.asset)"])
        run.now += 30
        #expect(run.log("l") == ["discarded l: \(Reason.orientation)"])
        run.now += 30
        run.device.settings.orientation = .landscape
        #expect(run.log("l") == ["shown l"])
    }

    @Test("Another user does not see it, unless the SDK is older than version 15", arguments: [nil, false, true])
    func guardedUser(guards: Bool?) throws {
        var run = try InAppRun([.on("a")])
        if let guards { run.device.settings.guardsUser = guards }
        run.device.isForeground = false
        run.log("a")
        run.device.isForeground = true
        run.device.user = 2
        let expected = guards ?? true ? "discarded a: \(Reason.otherUser)" : "shown a"
        #expect(run.words(.sessionStart(eligible: ["a"], catalogue: 1)) == [expected])
    }

    @Test("A control variant logs its impression and leaves the screen free")
    func control() throws {
        var run = try InAppRun([.on("c", reEligibility: -1, isControl: true)])
        #expect(run.log("c") == ["shown c: \(Reason.control)"])
        #expect(run.state.screen == nil)
        run.now += 30
        #expect(run.log("c") == ["ignored c: \(Reason.shownBefore)"])
    }

    // MARK: - The screen

    @Test("The app presents a message that waits, or one that nothing triggered")
    func present() throws {
        var run = try InAppRun([.on("a"), .on("b"), .on("c"), .on("d")])
        run.device.isForeground = false
        for name: Name in ["a", "b"] {
            run.log(name)
            run.now += 30
        }
        run.device.isForeground = true
        #expect(run.words(.present("a")) == ["shown a"])
        #expect(run.state.stack.map(\.message) == ["b"])
        #expect(run.words(.present("c")) == ["waiting c: \(Reason.anotherVisible)"])
        run.words(.close)
        #expect(run.words(.present("d")) == ["shown d"])
        #expect(run.send(.present("gone")).refusal == "there is no such message")
    }

    @Test("A click names its button and closes the message")
    func click() throws {
        var run = try InAppRun([.on("a", buttons: ["yes"])])
        #expect(run.send(.click(button: nil)).refusal == "no message is on the screen")
        run.log("a")
        #expect(run.send(.click(button: "no")).refusal == "the message has no such button")
        let steps = run.send(.click(button: "yes")).steps
        #expect(steps.map(\.stage) == [.clicked, .closed])
        #expect(steps.first?.action == "yes")
        #expect(run.state.screen == nil)
    }

    @Test("A custom view logs impressions and clicks by hand")
    func customView() throws {
        var run = try InAppRun([.on("v", form: .custom), .on("m")])
        #expect(run.log("v") == ["shown v: \(Reason.customView)"])
        #expect(run.send(.click(button: nil)).refusal == Reason.customView.rawValue)
        #expect(run.words(.logImpression) == ["shown v: \(Reason.impression)"])
        #expect(run.state.display(of: "v", to: 1)?.count == 1)
        #expect(run.words(.logClick(button: nil)) == ["clicked v: \(Reason.click)"])
        #expect(run.words(.close) == ["closed v"])
        run.now += 30
        run.log("m")
        #expect(run.send(.logClick(button: nil)).refusal != nil)
    }

    @Test("A slide-up is shown in the device's theme", arguments: [InAppSettings.Theme.light, .dark])
    func theme(_ theme: InAppSettings.Theme) throws {
        let colors: [InAppMessage.Theme: [AttributeValue.Member]] = [
            .light: [.init("text", .string("black"))], .dark: [.init("text", .string("white"))],
        ]
        var run = try InAppRun([.on("s", form: .slideUp(from: .top, themes: colors))])
        run.device.settings.theme = theme
        let shown = try #require(run.send(.event(.customEvent(CustomEvent(name: "s")))).steps.first)
        let content = AttributeValue.object(shown.content)
        #expect(content["theme"] == .string(theme.rawValue))
        #expect(content["colors"]?["text"] == .string(theme == .dark ? "white" : "black"))
        #expect(content["slide_from"] == .string("top"))
    }

    @Test("A step is caused by the step before it")
    func causes() throws {
        let table = try TriggerTable([.on("a", delay: 5)])
        var state = InAppState()
        let device = InAppMachine.Situation(user: 1)
        func handle(_ input: InAppMachine.Input, _ now: Int64, _ cause: UInt64) -> [MessageStep] {
            InAppMachine(state: state, table: table, device: device, now: now)
                .handle(input, cause: Position(rawValue: cause)).steps
        }
        for step in handle(.sessionStart(eligible: ["a"], catalogue: 0), 0, 1) {
            state.apply(step, user: 1, position: 2, at: 0)
        }
        let waiting = try #require(handle(.event(.customEvent(CustomEvent(name: "a"))), 0, 3).first)
        #expect(waiting.cause == Position(rawValue: 3))
        state.apply(waiting, user: 1, position: 4, at: 0)
        let shown = try #require(handle(.action(.timePassed), 5_000_000, 5).first)
        #expect(shown.stage == .shown && shown.cause == Position(rawValue: 4))
    }
}
