import Foundation
import ProfileLog
import ProfileLogNativeAPI
import TestSupport
import Testing

@testable import ProfileLogBrazeAPI
@testable import ProfileLogRequests

/// Sends, schedules, deliveries, actions, launches and deaths of the process, in an order by chance.
@Suite("Sends in any order")
struct SendInterleavingTests {
    private static let yaml = """
        segments: [{id: all, name: All, users: all}]
        campaigns:
          - id: game
            name: Game
            messages: [{apple_push: {alert: "{{api_trigger_properties.${n}}}"}}, {webhook: {url: u}}]
        """
    private static let users = ["ana", "ben", "cat"]

    @Test("No push is processed twice or lost, and each scheduled send is sent once", arguments: seeds)
    func interleavings(seed: UInt64) async throws {
        let clock = StoreClock()
        clock.set(to: Timestamp(rawValue: 1_800_000_000_000_000))
        var options = LogOptions()
        options.now = { clock.now() }
        try await withAPI(options) { (plain) async throws in
            var run = SendRun(api: try plain.under(Self.yaml), options: options, clock: clock, seed: seed)
            for _ in 0..<Thoroughness.count(short: 120, full: 600) {
                try await run.step()
                if run.steps.isMultiple(of: 20) { try await run.check() }
            }
            try await run.finish()
            try await run.check()
        }
    }

    private static let seeds = Thoroughness.seeds(short: 3, full: 60)

    /// One run: the requests are kept here, and compared with the log.
    private struct SendRun {
        var api: API
        let options: LogOptions
        let clock: StoreClock
        let seed: UInt64
        var random: SeededGenerator
        var steps = 0
        /// The users of each schedule that was not deleted, by its `dispatch_id`.
        var scheduled: [String: Set<String>] = [:]
        var waiting: [(id: String, dispatch: String)] = []
        var deleted: Set<String> = []

        init(api: API, options: LogOptions, clock: StoreClock, seed: UInt64) {
            (self.api, self.options, self.clock, self.seed) = (api, options, clock, seed)
            random = SeededGenerator(seed: seed)
        }

        mutating func step() async throws {
            steps += 1
            let user = pick(SendInterleavingTests.users)
            let device = "phone-\(pick(SendInterleavingTests.users))"
            switch Int.random(in: 0..<14, using: &random) {
            case 0: _ = await api.post("/v1/devices/\(device)/change-user", #"{"user":"\#(user)"}"#)
            case 1, 2: _ = await api.post("/v1/devices/\(device)/launch", "")
            case 3: _ = await api.post("/v1/devices/\(device)/leave", "")
            case 4, 5:
                _ = await api.post(
                    "/campaigns/trigger/send",
                    #"{"campaign_id":"game","trigger_properties":{"n":"\#(steps)"},"#
                        + #""recipients":[{"external_user_id":"\#(user)"}]}"#)
            case 6, 7: await schedule(user)
            case 8: await delete()
            case 9:
                _ = clock.advance(byMicroseconds: Int64.random(in: 1...90, using: &random) * 1_000_000)
                _ = try await api.braze.sendDue()
            case 10: try die()
            default:
                let action = pick(["deliver", "deliver", "expand", "open", "dismiss", "initialize", "force_quit"])
                _ = await api.post("/v1/devices/\(device)/push", #"{"action":"\#(action)"}"#)
            }
        }

        private mutating func pick(_ words: [String]) -> String {
            words[Int.random(in: 0..<words.count, using: &random)]
        }

        private mutating func schedule(_ user: String) async {
            let isBroadcast = Int.random(in: 0..<3, using: &random) == 0
            let seconds = Int64.random(in: 1...120, using: &random)
            let time = Timestamp(rawValue: clock.now().rawValue + seconds * 1_000_000)
            let target = isBroadcast ? #""broadcast":true"# : #""recipients":[{"external_user_id":"\#(user)"}]"#
            let (status, json) = await api.post(
                "/campaigns/trigger/schedule/create",
                #"{"campaign_id":"game","trigger_properties":{"n":"\#(steps)"},\#(target),"#
                    + #""schedule":{"time":"\#(time.rfc3339())"}}"#)
            #expect(status == 201, "seed \(seed), step \(steps): \(json)")
            let known = SendInterleavingTests.users.filter { (try? api.log.find(.externalID($0))) ?? nil != nil }
            // A broadcast goes to those who are there when it is sent.
            scheduled[json.at("dispatch_id").text] = isBroadcast ? [] : Set(known.filter { $0 == user })
            waiting.append((json.at("schedule_id").text, json.at("dispatch_id").text))
        }

        private mutating func delete() async {
            guard !waiting.isEmpty else { return }
            let (id, dispatch) = waiting.remove(at: Int.random(in: 0..<waiting.count, using: &random))
            let (status, _) = await api.post(
                "/campaigns/trigger/schedule/delete", #"{"campaign_id":"game","schedule_id":"\#(id)"}"#)
            if status == 201 { deleted.insert(dispatch) }
        }

        /// Data that was only in memory is lost.
        private mutating func die() throws {
            let log = try EventLog(path: api.log.path, options: options)
            api = API(log: log, workspace: api.workspace)
        }

        /// Lets all time pass that something waits for.
        mutating func finish() async throws {
            _ = clock.advance(byMicroseconds: 600_000_000)
            _ = try await api.braze.sendDue()
            #expect(try api.braze.nextDue() == nil, "seed \(seed)")
        }

        func check() async throws {
            let place = Comment(rawValue: "seed \(seed), step \(steps)")
            try checkSchedules(place)
            for user in SendInterleavingTests.users { try await checkPushes(on: "phone-\(user)", place) }
        }

        private func checkSchedules(_ place: Comment) throws {
            let isOver = try api.braze.nextDue() == nil
            for (dispatch, users) in scheduled {
                for user in SendInterleavingTests.users {
                    // One message of each channel: to each device for a push, once for a webhook.
                    let webhooks = try api.messageSteps(of: user).count {
                        $0.step.dispatch == dispatch && $0.step.channel == .webhook
                            && ($0.step.stage == .sent || $0.step.stage == .notSent)
                    }
                    #expect(webhooks <= 1, place)
                    if deleted.contains(dispatch) { #expect(webhooks == 0, place) }
                    if isOver, users.contains(user), !deleted.contains(dispatch) { #expect(webhooks == 1, place) }
                }
            }
        }

        /// Every push sent to the device is at one place, and each of its steps happened once.
        private func checkPushes(on device: String, _ place: Comment) async throws {
            var next: [Position: [MessageStep.Stage]] = [:]
            var sent: [(position: Position, last: Position)] = []
            var last: [Position: Position] = [:]
            for event in try api.log.events(from: Position(rawValue: 1), limit: .max).events {
                guard case .message(let step) = event.event, event.context.device == device, step.channel.isPush else {
                    continue
                }
                if step.stage == .sent {
                    sent.append((event.position, event.position))
                    last[event.position] = event.position
                } else if let cause = step.cause {
                    next[cause, default: []].append(step.stage)
                    if let first = last.first(where: { $0.value == cause })?.key { last[first] = event.position }
                }
            }
            for (_, stages) in next {
                #expect(stages.count { $0 == .received || $0 == .notReceived } <= 1, place)
                #expect(stages.count { $0 == .processed } <= 1, place)
            }
            let json = await api.get("/v1/devices/\(device)/pushes").json
            let underway = Set((json.at("underway").asArray ?? []).compactMap { $0.at("push").asInteger })
            for (position, _) in sent {
                let isUnderway = last[position] == position
                #expect(underway.contains(Int64(position.rawValue)) == isUnderway, place)
            }
        }
    }
}
