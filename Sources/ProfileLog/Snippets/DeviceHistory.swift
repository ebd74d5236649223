/// A made-up history of an app's devices over some weeks, the same for the same seed: in pushes people play, follow a
/// course or register, and they open the app now and then (the use cases of spec/device.md 7).
///
/// One device of ten is a tablet that two people share; four of five people log in after the first start; most starts
/// are cold, some return, few happen in the background; now and then a device has no network.
package struct DeviceHistory: Sendable {
    /// Something that people or processes do on a device.
    package enum Action: Hashable, Sendable {
        /// The push extension saves something.
        case save(ProfileEvent)
        case launch(LaunchKind)
        case leave
        /// A person logs in, by external ID.
        case logIn(String)
        case network(isOnline: Bool)
    }

    /// Something that happens on a device at a time.
    package struct Step: Hashable, Sendable {
        /// The time, by the device's clock.
        package var time: Timestamp
        /// The device on which it happens.
        package var device: String
        /// The thing that happens.
        package var action: Action
    }

    /// Everything that happens, in the order of time.
    package let steps: [Step]

    /// Makes the history of `devices` devices over `days` days from `start`.
    package init(seed: UInt64, devices: Int, days: Int, start: Timestamp) {
        steps = (1...max(devices, 1)).flatMap { number in
            var device = MadeUpDevice(seed: seed, number: number, start: start)
            for day in 0..<days { device.live(day) }
            return device.steps
        }.sorted { ($0.time, $0.device) < ($1.time, $1.device) }
    }
}

extension DeviceHistory {
    /// Lets it happen to the devices of `log`; each step is durable before the next. `progress` may stop it
    /// by answering false.
    ///
    /// Returns whether the end was reached.
    @discardableResult
    package func play(on log: EventLog, progress: (LogProgress) -> Bool = { _ in true }) throws -> Bool {
        let total = UInt64(steps.count)
        for (step, done) in zip(steps, UInt64(1)...) {
            try Self.play(step, on: log)
            guard done % 64 == 0 || done == total else { continue }
            if !progress(LogProgress(stage: "simulate", done: done, total: total, unit: "steps")) {
                return done == total
            }
        }
        return true
    }

    /// Lets one step happen to its device; it is durable on return.
    package static func play(_ step: Step, on log: EventLog) throws {
        let device = step.device
        let at = OccurredAt(step.time)
        let app = EventContext(source: .app, occurredAt: at, process: DeviceStorage.app)
        switch step.action {
        case .save(let event):
            let context = EventContext(
                source: .extension, occurredAt: at, process: "PushContent", device: device,
                storage: .appGroup("group.com.example.academy"))
            _ = try log.append([event], to: .device(device), context: context)
        case .launch(let kind): _ = try log.launch(device: device, kind: kind, context: app)
        case .leave: _ = try log.leave(device: device, context: app)
        case .logIn(let id): _ = try log.changeUser(device: device, to: .externalID(id), context: app)
        case .network(let isOnline):
            var settings = SettingsChange()
            settings.isOnline = isOnline
            _ = try log.change(settings, of: device, context: app)
        }
    }
}

/// One device's part of a history.
private struct MadeUpDevice {
    private(set) var steps: [DeviceHistory.Step] = []
    private var random: SeededGenerator
    private let name: String
    private let people: [String]
    private let start: Timestamp
    private let logsIn: Bool
    private var person = 0
    private var streak: Int64 = 0

    init(seed: UInt64, number: Int, start: Timestamp) {
        random = SeededGenerator(seed: seed &* 1_000_003 &+ UInt64(number))
        let isShared = number % 10 == 0
        name = (isShared ? "tablet-" : "phone-") + String(number)
        people = isShared ? ["u-\(number)-a", "u-\(number)-b"] : ["u-\(number)"]
        self.start = start
        logsIn = number % 5 != 3
    }

    mutating func live(_ day: Int) {
        var minute = day * 1440 + 420 + random.next(below: 240)
        if day == 0 {
            add(minute, .launch(.cold))
            if logsIn { add(minute + 2, .logIn(people[0])) }
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
        if logsIn, people.count > 1, random.next(below: 2) == 0 {
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
        save(minute, event: "Completed Match Game", [.init("Score", .int(score))])
        save(minute, ("Best Score", .int(score)), ("Match Streak", .int(streak)), ("Won Last Match", .bool(score > 5)))
    }

    private mutating func followCourse(_ minute: Int) {
        let session = Int64(1 + random.next(below: 12))
        // A course that has an event of its own: the property has the name under which the snippets keep the event's.
        let topic: AttributeValue.Member =
            random.next(below: 8) == 0
            ? .init("event_name", .string("Live Webinar")) : .init("topic", .string("Session \(session)"))
        let properties = [topic, .init("completed", .int(session))].sorted { $0.key < $1.key }
        save(minute, event: "Viewed Session Progress", properties)
        if random.next(below: 3) == 0 { save(minute, ("Sessions Done", .array((1...session).map { .int($0) }))) }
    }

    private mutating func register(_ minute: Int) {
        let address = AttributeValue.string("\(people[person])@example.com")
        save(minute, event: "Registered for Certification")
        save(minute, ("Certification Registration Email", address))
        add(minute, .save(.userAttributeSaved(UserAttributeChange(.email, address))))
        if random.next(below: 3) == 0 {
            add(minute, .save(.userAttributeSaved(UserAttributeChange(.firstName, .string("Robin")))))
        }
    }

    private mutating func save(_ minute: Int, event: Name, _ properties: [AttributeValue.Member]? = nil) {
        add(minute, .save(.customEventSaved(CustomEvent(name: event, properties: properties))))
    }

    private mutating func save(_ minute: Int, _ attributes: (Name, AttributeValue)...) {
        add(minute, .save(.customAttributesSaved(attributes.map { AttributeChange($0.0, .set($0.1)) })))
    }

    private mutating func add(_ minute: Int, _ action: DeviceHistory.Action) {
        // Each action has its second, so that the order on a device is that of the steps.
        var time = start.advanced(by: Int64(minute) * 60_000_000)
        if let last = steps.last { time = max(time, last.time.advanced(by: 1_000_000)) }
        steps.append(.init(time: time, device: name, action: action))
    }
}

extension Timestamp {
    func advanced(by microseconds: Int64) -> Timestamp {
        let (sum, isOverflow) = rawValue.addingReportingOverflow(microseconds)
        return Timestamp(rawValue: isOverflow ? .max : sum)
    }
}
