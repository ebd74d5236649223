/// A made-up history of an app's devices over some weeks, the same for the same seed: pushes in which people play, follow a course or register,
/// and an app that is opened now and then (the use cases of spec/device 7).
///
/// One device of ten is a tablet that two people share; four of five people log in after the first start; most starts are cold, some return, few happen in
/// the background; now and then a device has no network.
public struct DeviceHistory: Sendable {
    /// What happens.
    public enum Action: Hashable, Sendable {
        /// The push extension saves something.
        case save(ProfileEvent)
        case launch(LaunchKind)
        case leave
        /// Somebody logs in, by external ID.
        case logIn(String)
        case network(isOnline: Bool)
    }

    /// Something that happens on a device at a time.
    public struct Step: Hashable, Sendable {
        /// When, by the device's clock.
        public var time: Timestamp
        /// Where.
        public var device: String
        /// What.
        public var action: Action
    }

    /// Everything that happens, in the order of time.
    public let steps: [Step]

    /// The process that saves.
    public static let process: Name = "PushContent"
    /// The app group into which it saves.
    public static let appGroup: Name = "group.com.example.academy"

    /// Makes the history of `devices` devices over `days` days from `start`.
    public init(seed: UInt64, devices: Int, days: Int, start: Timestamp) {
        var steps: [Step] = []
        for number in 1...max(devices, 1) {
            var device = DeviceOfHistory(seed: seed, number: number, start: start)
            for day in 0..<days { device.live(day) }
            steps += device.steps
        }
        self.steps = steps.sorted { ($0.time, $0.device) < ($1.time, $1.device) }
    }
}

/// One device's part.
private struct DeviceOfHistory {
    private(set) var steps: [DeviceHistory.Step] = []
    private var random: SeededGenerator
    private let name: String
    private let people: [String]
    private let start: Timestamp
    private var isKnown: Bool
    private var person = 0
    private var streak: Int64 = 0

    init(seed: UInt64, number: Int, start: Timestamp) {
        random = SeededGenerator(seed: seed &* 1_000_003 &+ UInt64(number))
        let isShared = number % 10 == 0
        name = (isShared ? "tablet-" : "phone-") + String(number)
        people = isShared ? ["u-\(number)-a", "u-\(number)-b"] : ["u-\(number)"]
        self.start = start
        // One of five never logs in.
        isKnown = number % 5 != 3
    }

    mutating func live(_ day: Int) {
        var minute = day * 1440 + 420 + random.next(below: 240)
        if day == 0 {
            add(minute, .launch(.cold))
            if isKnown { add(minute + 2, .logIn(people[0])) }
            add(minute + 6, .leave)
        }
        let isOffline = random.next(below: 20) == 0
        if isOffline { add(minute, .network(isOnline: false)) }
        if random.next(below: 2) == 0 {
            minute += 60 + random.next(below: 180)
            expandPush(minute)
        }
        if random.next(below: 5) < 3 {
            minute += 30 + random.next(below: 300)
            open(minute)
        }
        if isOffline { add(day * 1440 + 1380, .network(isOnline: true)) }
    }

    private mutating func open(_ minute: Int) {
        let draw = random.next(below: 10)
        let kind: LaunchKind = draw < 5 ? .cold : draw < 9 ? .return : .background
        add(minute, .launch(kind))
        if kind == .background { return }
        if isKnown, people.count > 1, random.next(below: 2) == 0 {
            person = 1 - person
            add(minute + 1, .logIn(people[person]))
        }
        if random.next(below: 10) < 8 { add(minute + 3 + random.next(below: 20), .leave) }
    }

    // MARK: - What people do in a push

    private mutating func expandPush(_ minute: Int) {
        switch random.next(below: 10) {
        case 0..<5: play(minute)
        case 5..<8: followCourse(minute)
        default: register(minute)
        }
    }

    private mutating func play(_ minute: Int) {
        streak += 1
        let score = Int64(random.next(below: 12))
        save(
            minute,
            .customEventSaved(
                CustomEvent(name: "Completed Match Game", properties: [.init("Score", .int(score))])))
        save(
            minute,
            .customAttributesSaved([
                AttributeChange("Best Score", .set(.int(score))), AttributeChange("Match Streak", .set(.int(streak))),
                AttributeChange("Won Last Match", .set(.bool(score > 5))),
            ]))
    }

    private mutating func followCourse(_ minute: Int) {
        let session = Int64(1 + random.next(below: 12))
        // A course that has an event of its own: the property has the name under which the snippets keep the event's.
        let topic: AttributeValue.Member =
            random.next(below: 8) == 0
            ? .init("event_name", .string("Live Webinar")) : .init("topic", .string("Session \(session)"))
        let properties = [topic, .init("completed", .int(session))].sorted { $0.key < $1.key }
        save(minute, .customEventSaved(CustomEvent(name: "Viewed Session Progress", properties: properties)))
        if random.next(below: 3) == 0 {
            let done = (1...session).map { AttributeValue.int($0) }
            save(minute, .customAttributesSaved([AttributeChange("Sessions Done", .set(.array(done)))]))
        }
    }

    private mutating func register(_ minute: Int) {
        let address = "\(people[person])@example.com"
        save(minute, .customEventSaved(CustomEvent(name: "Registered for Certification")))
        save(
            minute,
            .customAttributesSaved([AttributeChange("Certification Registration Email", .set(.string(address)))]))
        save(minute, .userAttributeSaved(UserAttributeChange(.email, .string(address))))
        if random.next(below: 3) == 0 {
            save(minute, .userAttributeSaved(UserAttributeChange(.firstName, .string("Robin"))))
        }
    }

    private mutating func save(_ minute: Int, _ event: ProfileEvent) { add(minute, .save(event)) }

    private mutating func add(_ minute: Int, _ action: DeviceHistory.Action) {
        // Each action has its second, so that the order on a device is that of the steps.
        var time = start.advanced(by: Int64(minute) * 60_000_000)
        if let last = steps.last { time = max(time, last.time.advanced(by: 1_000_000)) }
        steps.append(.init(time: time, device: name, action: action))
    }
}
