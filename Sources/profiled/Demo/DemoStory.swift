internal import ProfileLog
internal import ProfileLogBrazeAPI
internal import ProfileLogNativeAPI

/// The story of `profiled demo`: the requests of four people and of their phones during eight days, among 50 simulated
/// devices.
///
/// Times count back from the moment at which it ends. The same moment always gives the same story.
struct DemoStory: Sendable {
    private struct Step: Sendable {
        enum Action: Sendable {
            case request(Request)
            case device(DeviceHistory.Step)
        }

        let time: Timestamp
        let action: Action
    }

    /// A POST.
    private struct Request: Sendable {
        let path: String
        /// `LATE` in it is the time of an event that arrives late.
        var body: String

        init(_ path: String, _ body: String = "{}") { (self.path, self.body) = (path, body) }
    }

    private static let (seed, devices, days): (UInt64, Int, Int) = (1, 50, 8)
    /// Microseconds.
    private static let (second, minute, hour, day): (Int64, Int64, Int64, Int64) = (
        1_000_000, 60_000_000, 3_600_000_000, 86_400_000_000
    )

    private let steps: [Step]

    /// Makes the story that ends at the minute of `end`.
    init(endingAt end: Timestamp) {
        let end = end.rawValue / Self.minute * Self.minute
        let people: [Step] = Self.scenes.flatMap { scene in
            scene.requests.enumerated().map { number, request in
                // Each request has its second, as each simulated step has.
                let time = end - scene.hoursBefore * Self.hour + Int64(number) * Self.second
                let late = Timestamp(rawValue: time - Self.daysLate * Self.day).rfc3339()
                var request = request
                request.body = request.body.replacing("LATE", with: late)
                return Step(time: Timestamp(rawValue: time), action: .request(request))
            }
        }
        let firstDay = end / Self.day * Self.day - Int64(Self.days - 1) * Self.day
        let history = DeviceHistory(
            seed: Self.seed, devices: Self.devices, days: Self.days, start: Timestamp(rawValue: firstDay))
        let simulated = history.steps.filter { $0.time.rawValue < end }
            .map { Step(time: $0.time, action: .device($0)) }
        steps = (people + simulated).sorted { $0.time < $1.time }
    }

    /// Lets it happen to the store of `api`, an empty one for tests whose clock it sets. Afterwards the clock goes like
    /// the system's.
    func play(on api: API) async throws {
        for step in steps {
            try await Self.send(Request("/v1/clock", #"{"set":"\#(step.time.rfc3339())"}"#), to: api)
            switch step.action {
            case .request(let request): try await Self.send(request, to: api)
            case .device(let step): try DeviceHistory.play(step, on: api.log)
            }
        }
        try await Self.send(Request("/v1/clock", #"{"release":true}"#), to: api)
    }

    private static func send(_ request: Request, to api: API) async throws {
        let answer = await api.router.answer(APIRequest(.post, request.path, body: Array(request.body.utf8)))
        if answer.isSuccess { return }
        let refusal = (try? JSON.parse(answer.body)) ?? .null
        let reason = (refusal["error"] ?? refusal["message"])?.asText ?? "status \(answer.status)"
        throw StartError(
            "The story stopped at POST \(request.path): \(reason)",
            remedy: refusal["remedy"]?.asText ?? "Report this: a demo never sends what is refused.")
    }
}

// MARK: - The people

extension DemoStory {
    private struct Scene {
        /// Hours from here to the end of the story.
        let hoursBefore: Int64
        let requests: [Request]
    }

    /// Days by which the event of the tablet is late.
    private static let daysLate: Int64 = 325

    /// The campaign, and the segment of the users who get it.
    static func workspace() throws -> Workspace {
        try Workspace(
            yaml: """
                segments:
                  - id: players
                    name: Who has a level
                    all: [{custom_attribute: level, greater: 0}]
                campaigns:
                  - id: spring
                    name: Spring match
                    segment: players
                    messages: [{apple_push: {alert: A new match waits for you}}]
                """)
    }

    private static var scenes: [Scene] { [firstDay, saves, launch, campaign, newSaves] }

    private static var firstDay: Scene {
        let ana = [
            Request(
                "/v1/log/attributes",
                #"{"user":"ana","attributes":{"level":6,"address":{"city":"Köln","street":"Domplatte 1"}}}"#),
            Request("/v1/log/event", #"{"user":"ana","name":"Viewed Home"}"#),
        ]
        return Scene(
            hoursBefore: 192, requests: ana + install("bo", level: 1) + install("cleo", level: 4) + install("dan"))
    }

    /// The app is installed, and `user` logs in. Who plays up to a level does not allow pushes.
    private static func install(_ user: String, level: Int? = nil) -> [Request] {
        let device = "\(user)s-phone"
        let start = [
            Request("/v1/devices/\(device)/change-user", #"{"user":"\#(user)"}"#),
            Request("/v1/devices/\(device)/launch"),
            Request("/v1/log/event", #"{"user":"\#(user)","device":"\#(device)","name":"Viewed Home"}"#),
        ]
        let play = level.map { level in
            [
                Request(
                    "/v1/log/attributes",
                    #"{"user":"\#(user)","device":"\#(device)","attributes":{"level":\#(level)}}"#),
                Request("/v1/devices/\(device)/settings", #"{"permission":"denied"}"#),
            ]
        }
        return start + (play ?? []) + [Request("/v1/devices/\(device)/leave")]
    }

    /// Ana's push extension cannot send, so it saves.
    private static var saves: Scene {
        Scene(
            hoursBefore: 60,
            requests: [
                save("event", #""name":"Completed Match Game","properties":{"Score":10}"#),
                save("attributes", #""attributes":{"level":7}"#),
            ])
    }

    /// Her first launch flushes that. Then her tablet delivers an old level, and she moves.
    private static var launch: Scene {
        Scene(
            hoursBefore: 57,
            requests: [
                Request("/v1/devices/phone/change-user", #"{"user":"ana"}"#),
                Request("/v1/devices/phone/launch"),
                Request(
                    "/v1/log/attributes",
                    #"{"user":"ana","device":"tablet","attributes":{"level":2},"time":"LATE"}"#),
                Request(
                    "/v1/log/attributes",
                    #"{"user":"ana","attributes":{"address":{"city":"Bonn","street":"Domplatte 1"}}}"#),
                Request("/v1/devices/phone/leave"),
            ])
    }

    /// A push to all who have a level: bo and cleo do not allow pushes, and dan has no level.
    private static var campaign: Scene {
        let deliveries = ["phone", "bos-phone", "cleos-phone"].map { device in
            Request("/v1/devices/\(device)/push", #"{"action":"deliver"}"#)
        }
        let send = Request("/campaigns/trigger/send", #"{"campaign_id":"spring","broadcast":true}"#)
        return Scene(hoursBefore: 26, requests: [send] + deliveries)
    }

    /// Items that still wait.
    private static var newSaves: Scene {
        Scene(
            hoursBefore: 3,
            requests: [
                save("event", #""name":"Completed Match Game","properties":{"Score":12}"#),
                save("attributes", #""attributes":{"streak":3}"#),
            ])
    }

    private static func save(_ what: String, _ fields: String) -> Request {
        Request("/v1/save/\(what)", #"{"user":"ana","device":"phone","process":"PushContent",\#(fields)}"#)
    }
}
