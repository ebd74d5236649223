import Foundation
import Testing

@Suite("Devices: networks, sessions, users and repairs")
struct DeviceTests {
    @Test("What is saved offline is queued by a launch, and changes the profile once it is sent")
    func offline() throws {
        let cli = try CLI()
        try cli.succeed("save", "event", "ana", "Match Game", "-p", "Score=10", "--device", "d1")
        let setUp = try cli.succeed("device", "settings", "d1", "--offline")
        #expect(setUp.lines.count == 1)
        #expect(setUp.output.contains("d1 is set up at position 4: offline; 0 sent, 0 queued."))
        let launch = try cli.succeed("launch", "d1")
        #expect(launch.output.contains("0 flushed, 0 rejected, 0 left, 1 queued (the device is offline)"))
        #expect(launch.output.contains("Next: profilecli device settings d1 --online"))
        #expect(try !cli.succeed("profile", "ana").output.contains("Match Game"))

        let logged = try cli.succeed("log", "event", "ana", "played", "--device", "d1")
        #expect(logged.output.contains("queued by the SDK, and effective when it is sent"))
        let pending = try cli.succeed("pending")
        #expect(pending.output.contains("SDK's queue (offline)"))
        #expect(pending.output.contains("being sent"))
        #expect(pending.output.contains("0 items wait, 2 queued. Next: profilecli device settings d1 --online"))
        #expect(try cli.succeed("stats", "--format", "json").output.contains(#""queued":2,"#))
        #expect(try cli.succeed("device", "send", "d1").output.contains("0 sent, 2 queued (the device is offline)"))
        #expect(try cli.succeed("device").output.contains("offline"))

        #expect(try cli.succeed("device", "settings", "d1", "--online").output.contains("defaults; 2 sent, 0 queued"))
        let profile = try cli.succeed("profile", "ana", "--format", "json").output
        #expect(profile.contains("Match Game") && profile.contains("played"))
        let history = try cli.succeed("history", "ana").output
        for words in ["device set up", "session started", "pending handed over", "event queued", "data sent"] {
            #expect(history.contains(words), "\(words)")
        }
        #expect(history.contains("launch @5  queued @3"))
        #expect(history.contains("sent @3 @8"))
        #expect(try cli.succeed("replay", "--verify").output.contains("Equal"))
        #expect(try cli.succeed("check").output.hasPrefix("Sound"))
    }

    @Test("What was there when the app was removed is a table, a line for each item")
    func removed() throws {
        let cli = try CLI(after: [
            ["log", "event", "someone", "a"], ["launch"], ["save", "event", "device:phone", "a"],
        ])
        try cli.succeed("save", "attribute", "device:phone", "level=7")
        let lines = try cli.succeed("device", "remove-app").lines
        #expect(lines.count == 4 && lines[0].contains("2 items discarded. Next: profilecli launch phone"), "\(lines)")
        #expect(lines[1].hasPrefix("OUTCOME") && lines[2].contains("events") && lines[3].contains("level=7"))
    }

    @Test("A device, its pushes and its messages are shown as of a moment of the past")
    func past() throws {
        let cli = try CLI(after: [
            ["log", "event", "someone", "a"], ["launch"], ["save", "event", "device:phone", "a"],
        ])
        _ = try cli.write("- {id: hi, trigger_conditions: [{type: open}]}\n", as: "messages.yaml")
        let position = try #require(
            try cli.succeed("history", "device:phone", "--format", "json").output
                .matches(of: /"position":([0-9]+)/).last.map { String($0.1) })
        let push = ["push", "receive", "--payload", #"{"aps": {"alert": "Hi"}}"#]
        for command in [
            push, ["device", "settings", "--offline"], ["messages", "declare", "messages.yaml"], ["device", "leave"],
            ["launch"],
        ] { #expect(try cli.run(command).status == 0, "\(command)") }
        let then = try cli.succeed("device", "show", "--as-of", position)
        #expect(then.output.contains("1 item waits on phone, 0 queued then."), "\(then.output)")
        #expect(try cli.succeed("device", "show").output.contains("0 items wait on phone, 1 queued. Next:"))
        #expect(try cli.succeed("device", "list", "--as-of", position).output.contains("defaults"))
        #expect(try cli.succeed("device", "list").output.contains("offline"))
        let pushes = try cli.succeed("push", "list", "--as-of", position).output
        #expect(pushes == "0 on the way to phone, 0 shown, 0 captured.\n")
        #expect(try cli.succeed("push", "list").output != pushes)
        #expect(try cli.succeed("messages", "show", "--as-of", position).output.contains(/screen +nothing/))
        let early = try cli.run("device", "show", "--as-of", "1")
        #expect(early.status == 1 && early.errors.contains("Nothing had happened on this device by then."))
        let occurred = try cli.succeed("device", "show", "--as-of", "now", "--occurred", "--format", "json")
        #expect(occurred.output.contains(#""device":"phone""#))
    }

    @Test("The log of a blame comes in pages, and the blame itself as of a moment of the past")
    func blame() throws {
        let cli = try CLI(after: (1...5).map { ["log", "attribute", "ana", "level=\($0)"] })
        let newest = try cli.succeed("blame", "ana", "level", "--log", "--reverse", "--limit", "2")
        #expect(newest.lines.count == 4 && newest.lines[2].hasPrefix("5 ") && newest.lines[3].hasPrefix("4 "))
        #expect(newest.errors.contains("The log of level has 5 entries; go on with --after 4."), "\(newest.errors)")
        let rest = try cli.succeed("blame", "ana", "level", "--log", "--after", "3")
        #expect(rest.lines.count == 4 && rest.lines[2].hasPrefix("4 ") && rest.errors.isEmpty, "\(rest.output)")
        #expect(try cli.succeed("blame", "ana", "level", "--as-of", "3").output.contains(/level +2\b/))
        let early = try cli.run("blame", "ana", "level", "--as-of", "1")
        #expect(early.status == 1 && early.errors.contains("By then the user had never had"), "\(early.errors)")
        for option in [["--reverse"], ["--limit", "2"], ["--after", "2"]] {
            let refused = try cli.run(["blame", "ana", "level"] + option)
            #expect(refused.status == 64 && refused.errors.contains("Add --log, or omit it."), "\(refused.errors)")
        }
    }

    @Test("A local time is read by every action of a device")
    func localTimes() throws {
        let cli = try CLI(after: [["log", "event", "someone", "a"], ["launch"]])
        for action in [["messages", "time-passed"], ["push", "initialize"], ["device", "leave"]] {
            let outcome = try cli.run(action + ["--at", "yesterday 14:00"], environment: ["TZ": "Asia/Tokyo"])
            #expect(outcome.status == 0, "\(action): \(outcome.errors)")
        }
    }

    @Test("The manual policy sends when it is asked, the automatic one when the interval is over")
    func policies() throws {
        let cli = try CLI()
        try cli.succeed("log", "event", "someone", "a")
        try cli.succeed("device", "settings", "--request-policy", "manual")
        try cli.succeed("save", "event", "device:phone", "a")
        let launch = try cli.succeed("launch")
        #expect(launch.output.contains("1 queued (the request policy is manual"))
        #expect(launch.output.contains("Next: profilecli device send phone"))
        #expect(try cli.succeed("device", "send", "--if-due").output.contains("0 sent, 1 queued"))
        #expect(try cli.succeed("device", "send").output.contains("1 sent, 0 queued"))

        let times = (10...59).map { "2026-01-31T12:00:\($0)Z" }
        try cli.succeed("device", "settings", "p2", "--flush-interval", "20s", "--at", times[0])
        try cli.succeed("log", "event", "device:p2", "b", "--device", "p2", "--time", times[1])
        try cli.succeed("launch", "p2", "--at", times[2])
        try cli.succeed("save", "event", "device:p2", "c", "--time", times[3])
        let background = try cli.succeed("launch", "p2", "--kind", "background", "--at", times[4])
        #expect(background.output.contains("1 flushed, 0 rejected, 0 left."))
        try cli.succeed("save", "event", "device:p2", "d", "--time", times[5])
        let soon = try cli.succeed("launch", "p2", "--kind", "background", "--at", times[6])
        #expect(soon.output.contains("1 queued (the flush interval is not over)"))
        #expect(
            try cli.succeed("device", "send", "p2", "--if-due", "--at", times[7]).output.contains("0 sent, 1 queued"))
        #expect(
            try cli.succeed("device", "send", "p2", "--if-due", "--at", times[40]).output.contains("1 sent, 0 queued"))
    }

    @Test("A session ends when the app was away for longer than the timeout, by the device's clock")
    func sessions() throws {
        let cli = try CLI()
        let time = { (second: Int) in "2026-01-31T12:00:\(second)Z" }
        try cli.succeed("log", "event", "someone", "a")
        try cli.succeed("launch", "d", "--at", time(10))
        try cli.succeed("device", "settings", "d", "--session-timeout", "5s", "--at", time(11))
        #expect(try cli.succeed("device", "leave", "d", "--at", time(20)).output.contains("within 5 s"))
        #expect(try cli.succeed("device", "leave", "d", "--at", time(21)).output.contains("away from the foreground"))
        try cli.succeed("launch", "d", "--kind", "return", "--at", time(24))
        #expect(try cli.succeed("tail", "--no-follow", "--kind", "sessionStarted", "--format", "json").lines.count == 1)
        try cli.succeed("device", "leave", "d", "--at", time(30))
        try cli.succeed("launch", "d", "--kind", "return", "--at", time(40))
        #expect(try cli.succeed("tail", "--no-follow", "--kind", "sessionStarted", "--format", "json").lines.count == 2)
        let history = try cli.succeed("history", "device:d").output
        #expect(history.contains("session ended") && history.contains("begun @5"))
        #expect(try cli.succeed("device", "show", "d").output.contains("2026-01-31 12:00:40Z"))
    }

    @Test("An anonymous user is merged into the known one who logs in, and leaves with a log-out")
    func users() throws {
        let cli = try CLI()
        try cli.succeed("log", "event", "ana", "hello")
        try cli.succeed("launch", "d1")
        try cli.succeed("save", "event", "device:d1", "opened")
        let change = try cli.succeed("change-user", "ana", "--device", "d1")
        #expect(change.output.contains("(ana, version 4), merged with the anonymous user; 1 item waits there"))
        #expect(try cli.succeed("history", "ana").output.contains("users merged"))
        #expect(try cli.succeed("users", "--format", "json").output.contains(#""merged_into":1"#))
        #expect(try cli.succeed("launch", "d1").output.contains("as ana at position"))
        let profile = try cli.succeed("profile", "ana", "--format", "json").output
        #expect(profile.contains(#""name":"opened""#) && profile.contains(#""name":"hello""#))

        try cli.succeed("device", "settings", "d1", "--offline")
        try cli.succeed("log", "event", "ana", "lost", "--device", "d1")
        let out = try cli.succeed("device", "log-out", "d1")
        #expect(out.output.contains("1 item that the SDK had not sent is discarded"))
        #expect(out.output.contains("Next: profilecli device settings d1 --enable-sdk"))
        #expect(try cli.succeed("device", "log-out", "d1").output.contains("No user is on d1; nothing was stored"))
        #expect(try cli.succeed("history", "ana").output.contains("by SDK: it was not sent before the log-out"))
        #expect(try cli.run("log", "event", "ana", "dropped", "--device", "d1").errors.contains("is disabled"))
        try cli.succeed("device", "settings", "d1", "--enable-sdk", "--online")
        try cli.succeed("change-user", "ben", "--device", "d1")
        #expect(try cli.succeed("device", "wipe", "d1").output.contains("ben left d1"))
        #expect(try cli.succeed("device", "show", "d1", "--format", "json").output.contains(#""user":null"#))
        #expect(try cli.succeed("replay", "--verify").output.contains("Equal"))
    }

    @Test("What the SDK refuses is listed, repaired, and flushed by the next launch")
    func rejected() throws {
        let cli = try CLI()
        let place = #""device":"d","storage":"group.app","process":"Push""#
        let file = try cli.write(
            """
            {"kind":"userAttributeSaved","user":"ana",\(place),"attribute":"email","value":"no address"}
            {"kind":"customEventSaved","user":"ben",\(place),"name":"$bad","properties":{"a":1}}
            {"kind":"customAttributesSaved","user":"ana",\(place),"attributes":{"$x":1}}
            """, as: "items.jsonl")
        #expect(try cli.succeed("import", file).output.contains("Imported 3 events"))
        let launch = try cli.succeed("launch", "d")
        #expect(launch.output.contains("0 flushed, 3 rejected, 0 left. Next: profilecli rejected"))
        let rejected = try cli.succeed("rejected")
        #expect(rejected.output.contains("must be an e-mail address"))
        #expect(rejected.output.contains("3 items to be repaired. Next: profilecli pending retry"))
        #expect(try cli.succeed("rejected", "--user", "ben", "--format", "json").lines.count == 1)
        #expect(try cli.succeed("stats", "--format", "json").output.contains(#""rejected":{"open":3,"repaired":0}"#))

        let positions = try cli.succeed("rejected", "--format", "json").lines.map {
            try #require(member("position", $0))
        }
        let (ben, attributes, email) = (positions.sorted()[1], positions.sorted()[2], positions.sorted()[0])
        let wrong = try cli.run("pending", "retry", "\(email)", "email", "still none")
        #expect(wrong.status == 64)
        #expect(wrong.errors.contains("must be an e-mail address") && !wrong.errors.contains("still none"))
        #expect(try cli.run("pending", "retry", "\(email)", "email").status == 64)
        let repair = ["pending", "retry", "\(email)", "email", "ana@example.org"]
        #expect(try cli.run(repair).output.contains("is saved again at position"))
        #expect(try cli.run(repair).output.contains("was saved again already"))
        #expect(
            try cli.run(["pending", "retry", "\(email)", "email", "b@example.org"]).errors.contains("repaired before"))
        try cli.succeed("pending", "retry", "\(ben)", "good")
        try cli.succeed("pending", "retry", "\(attributes)", "x=2", "--string", "code=007")
        #expect(try cli.succeed("rejected").errors.contains("Nothing is rejected"))
        #expect(try cli.succeed("rejected", "--repaired", "--format", "json").lines.count == 3)
        #expect(try cli.succeed("launch", "d").output.contains("3 flushed, 0 rejected, 0 left"))
        let profile = try cli.succeed("profile", "ana", "--format", "json").output
        #expect(profile.contains(#""email":"ana@example.org""#) && profile.contains(#"{"code":"007","x":2}"#))
        #expect(try cli.succeed("profile", "ben", "--format", "json").output.contains(#""name":"good""#))
        #expect(try cli.succeed("history", "ben").output.contains("good  a=1  (repairs @\(ben))"))
    }

    @Test("A target without the app group saves where the app cannot see it, and a note says so")
    func appGroups() throws {
        let cli = try CLI()
        try cli.succeed("log", "event", "someone", "a")
        try cli.succeed("device", "settings", "d", "--without-app-group", "Push:group.app")
        let saved = try cli.succeed("save", "event", "ana", "a", "--device", "d", "--process", "Push")
        #expect(saved.output.contains("Push lacks the app group group.app on this device"))
        #expect(saved.output.contains("Next: profilecli pending"))
        let json = try cli.succeed(
            "save", "event", "ana", "b", "--device", "d", "--process", "Push", "--format", "json")
        #expect(json.output.contains(#""storage":"private:Push""#) && json.output.contains(#""note":"#))
        try cli.succeed("save", "event", "ana", "c", "--device", "d")
        #expect(try cli.succeed("launch", "d").output.contains("1 flushed, 0 rejected, 2 left"))
        let pending = try cli.succeed("pending").output
        #expect(pending.contains("private to Push, which lacks the app group group.app: the app cannot see it"))
        #expect(pending.contains("Next: profilecli pending discard --device d --storage private:Push"))

        try cli.succeed("device", "settings", "d", "--with-app-group", "Push:group.app")
        try cli.succeed("device", "settings", "d", "--without-app-group", "app:group.app")
        try cli.succeed("save", "event", "ana", "d", "--device", "d", "--process", "Push")
        #expect(try cli.succeed("launch", "d").output.contains("the app lacks the app group group.app"))
    }

    @Test("An app that dies in a launch leaves what the next one finishes", arguments: ["launched", "handed"])
    func death(step: String) throws {
        let cli = try CLI()
        for name in ["a", "b"] { try cli.succeed("save", "event", "ana", name, "--device", "d") }
        let died = try cli.succeed("launch", "d", "--die-after", step)
        #expect(died.output.contains("then the app died (\(step)). Next: profilecli launch d"))
        #expect(died.output.contains(step == "launched" ? "2 left" : "2 queued (the app died before the SDK sent it)"))
        #expect(try !cli.succeed("profile", "ana").output.contains("CUSTOM EVENT"))
        let next = try cli.succeed("launch", "d")
        #expect(next.output.contains(step == "launched" ? "2 flushed" : "2 sent from the queue"))
        let profile = try cli.succeed("profile", "ana", "--format", "json").output
        #expect(profile.components(separatedBy: #""count":1"#).count >= 3)
        #expect(try cli.succeed("pending").errors.contains("Nothing waits"))
    }

    /// A whole-number member of a line of JSON.
    private func member(_ key: String, _ line: String) -> Int? {
        let object = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
        return object?[key] as? Int
    }
}
