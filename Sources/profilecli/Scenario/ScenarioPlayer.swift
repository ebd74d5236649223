internal import ProfileLog
internal import ProfileLogBrazeAPI
internal import ProfileLogMessaging
internal import ProfileLogNativeAPI

/// The result of a scenario.
struct ScenarioResult: Sendable {
    let scenario: Scenario
    let elapsed: Duration
    /// Steps that were done.
    let played: Int
    /// Effects that a step lacked although it was accepted.
    var warnings: [StepWarning] = []
    /// The failure that stopped it; nil if all is as expected.
    let failure: StepError?
}

/// A part of an accepted step that was not done.
struct StepWarning: Sendable {
    let line: Int
    /// As in `no such user: jane`.
    let message: String
}

/// The reason why a scenario stopped at a step.
struct StepError: Error {
    let line: Int
    let step: String
    /// One sentence.
    let message: String
    var remedy = ""
    var differences: [Difference] = []
}

/// Plays the steps of a scenario, each as a request.
struct ScenarioPlayer {
    let world: ScenarioWorld

    /// Plays `scenario` in `place`; stops at the first step that fails. It also fails if it cannot begin, as when the
    /// service has gone.
    static func play(_ scenario: Scenario, in place: ScenarioPlace) async -> ScenarioResult {
        let begin = ContinuousClock.now
        var played = 0
        var warnings: [StepWarning] = []
        var failure: StepError?
        do {
            try await place.play(scenario) { world in
                let player = ScenarioPlayer(world: world)
                for step in scenario.steps {
                    if Interrupt.isRequested { break }
                    warnings += try await player.play(step)
                    played += 1
                }
            }
        } catch let error as StepError {
            failure = error
        } catch {
            let failed = CommandError(error)
            let step = scenario.steps[min(played, scenario.steps.count - 1)]
            failure = StepError(
                line: step.line, step: step.kind.name, message: failed.message, remedy: failed.remedy)
        }
        return ScenarioResult(
            scenario: scenario, elapsed: ContinuousClock.now - begin, played: played, warnings: warnings,
            failure: failure)
    }

    private func play(_ step: ScenarioStep) async throws -> [StepWarning] {
        switch step.kind.action {
        case .wait: try await wait(step)
        case .post(let path):
            let members = step.sent.filter { !path.contains("{\($0.member)}") }
            let body = JSONWriter.object { json in for (member, value) in members { json.member(member, value) } }
            try await ask(APIRequest(.post, Self.path(path, step), body: Array(body.utf8)), step)
        case .expect(let path, let view):
            let members = step.sent.filter { !path.contains("{\($0.member)}") }
            let query = members.flatMap { member, value in Self.words(value).map { (name: member, value: $0) } }
            try await ask(APIRequest(.get, Self.path(path, step), query: query), step, view)
        case .request: return Self.warnings(of: try await ask(Self.request(step), step), step)
        }
        return []
    }

    /// The recipients of a send that no user is; none if the step expects something about them.
    private static func warnings(of answer: JSONObject, _ step: ScenarioStep) -> [StepWarning] {
        if case .object(let members)? = step.expected?.form, members.contains(where: { $0.key == "dropped" }) {
            return []
        }
        return answer.objects("dropped").compactMap { dropped in
            guard let reason = dropped["reason"].text.flatMap(RecipientReason.init),
                [.unknownUser, .attributesRefused, .noneLeft, .severalLeft].contains(reason),
                let list = dropped["input_array"].text,
                let index = dropped["index"].integer
            else { return nil }
            let recipient = step.own["body"]?[Name(list)]?.elements.dropFirst(Int(index)).first
            let id = recipient?["external_user_id"] ?? recipient
            let isUnknown = [.unknownUser, .attributesRefused].contains(reason)
            return StepWarning(
                line: step.line, message: "\(isUnknown ? "no such user" : reason.rawValue): \((id ?? .null).cell)")
        }
    }

    private func wait(_ step: ScenarioStep) async throws {
        do {
            try await world.wait(seconds: step.own["for"]?.integer ?? 0)
        } catch let error as CommandError {
            throw failure(of: step, "failed: \(error.message)", error.remedy)
        }
    }

    // MARK: - Requests

    /// The path with the device that the step names.
    private static func path(_ template: String, _ step: ScenarioStep) -> String {
        let device = step.sent.first { $0.member == "device" }?.value.text ?? DefaultDevice.name
        return template.replacing("{device}", with: APIRequest.pathPart(device))
    }

    /// The values of a parameter: those of a list, or one.
    private static func words(_ value: AttributeValue) -> [String] {
        if case .array(let values) = value { values.map(\.cell) } else { [value.cell] }
    }

    /// The request of a step that is one.
    static func request(_ step: ScenarioStep) -> APIRequest {
        let body = step.own["body"]
        let isPost = step.own["method"]?.text.map { $0 == "POST" } ?? (body != nil)
        let query = (step.own["query"]?.members ?? []).flatMap { member in
            words(member.value).map { (name: member.key.text, value: $0) }
        }
        let target = step.own["path"]?.text.flatMap(RequestTarget.init)
        return APIRequest(
            isPost ? .post : .get, target?.path ?? "", query: (target?.query ?? []) + query,
            idempotencyKey: step.own["key"]?.text, body: body.map { Array($0.json.utf8) } ?? [])
    }

    /// Sends `request` and compares the answer, seen through `view`, with what the step expects. Returns the answer.
    @discardableResult
    private func ask(
        _ request: APIRequest, _ step: ScenarioStep, _ view: (JSONObject) -> JSONObject = { $0 }
    ) async throws -> JSONObject {
        let answer: APIAnswer
        do {
            answer = try await world.connection.answer(request)
        } catch let error as CommandError {
            throw failure(of: step, "failed: \(error.message)", error.remedy)
        }
        let object = (try? JSONObject(answer.body)) ?? JSONObject(.object([]))
        try checkStatus(answer.status, object, step)
        guard let expected = step.expected else { return object }
        let differences = expected.differences(from: answer.isSuccess ? view(object).value : object.value)
        if differences.isEmpty { return object }
        var failure = failure(
            of: step, "differs in \(Number.counted(UInt64(differences.count), "place")).")
        failure.differences = differences
        throw failure
    }

    private func checkStatus(_ status: Int, _ answer: JSONObject, _ step: ScenarioStep) throws(StepError) {
        let sentence = answer["error"].text ?? answer["message"].text ?? "status \(status)"
        let remedy = answer["remedy"].text ?? ""
        let wanted: (text: String, isMet: Bool)
        if let code = step.own["refused"]?.text {
            wanted = ("the refusal \(code)", answer["code"].text == code)
        } else if let expected = step.own["status"]?.integer {
            wanted = ("status \(expected)", status == Int(expected))
        } else {
            if status < 400 { return }
            throw failure(of: step, "was refused: \(sentence)", remedy)
        }
        if wanted.isMet { return }
        let got = status < 400 ? "it was done (status \(status))" : "it was refused: \(sentence)"
        throw failure(of: step, "expects \(wanted.text), and \(got)", remedy)
    }

    private func failure(of step: ScenarioStep, _ message: String, _ remedy: String = "") -> StepError {
        StepError(line: step.line, step: step.kind.name, message: "`\(step.kind.name)` \(message)", remedy: remedy)
    }
}
