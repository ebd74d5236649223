import ProfileLog
import Testing

@testable import ProfileLogBrazeAPI
@testable import ProfileLogRequests

/// Transactional sends and IDs of sends (spec/messaging-api 1).
@Suite("Transactional sends")
struct TransactionalSendTests {
    private static let path = "/transactional/v1/campaigns/receipt/send"
    private static let yaml = """
        campaigns:
          - id: receipt
            name: Receipt
            messages: [{webhook: {url: "https://x.test/{{api_trigger_properties.${order}}}"}}]
          - id: other
            name: Other
            messages: [{webhook: {url: "u"}}]
        """

    private func withReceipts(_ body: (API) async throws -> Void) async throws {
        try await withAPI { plain in
            let api = try plain.under(Self.yaml)
            await api.track(Wire.user("ana"))
            try await body(api)
        }
    }

    private static func body(_ order: String, _ id: String?) -> String {
        let id = id.map { #""external_send_id":"\#($0)","# } ?? ""
        return #"{\#(id)"trigger_properties":{"order":"\#(order)"},"recipient":{"external_user_id":"ana"}}"#
    }

    @Test("A repetition under the same external_send_id sends nothing and gets the same answer")
    func repetition() async throws {
        try await withReceipts { (api) async throws in
            let (status, json) = await api.post(Self.path, Self.body("1", "order-1"))
            #expect(status == 201)
            #expect(json.at("status") == "sent")
            #expect(json.at("dispatch_id").text.utf8.count == 32)
            #expect(json.at("metadata.external_send_id") == "order-1")
            #expect(json.at("metadata.campaign_api_id") == "receipt")
            #expect(json.at("metadata.received_at").text.contains("T"))
            let again = await api.post(Self.path, Self.body("1", "order-1"))
            #expect(again.status == 201)
            #expect(again.json == json)
            #expect(try api.sends(to: "ana") == ["sent webhook "])

            let other = await api.post(Self.path, Self.body("2", "order-1"))
            #expect(other.json == json)
            #expect(try api.sends(to: "ana").count == 1)
            for id in ["order-2", nil, nil] { _ = await api.post(Self.path, Self.body("1", id)) }
            #expect(try api.sends(to: "ana").count == 4)
            let url = try api.messageSteps(of: "ana").first.map { AttributeValue.object($0.step.content) }
            #expect(url?.at("url") == "https://x.test/1")
        }
    }

    @Test("An external_send_id belongs to its campaign, and no Idempotency-Key replaces it")
    func keys() async throws {
        try await withReceipts { (api) async throws in
            func send(_ path: String, _ id: String?, key: String?) async -> Int {
                var request = APIRequest(.post, path, body: Array(Self.body("1", id).utf8))
                request.idempotencyKey = key
                return await api.answer(request).status
            }
            #expect(await send(Self.path, "a", key: nil) == 201)
            #expect(await send(Self.path.replacing("receipt", with: "other"), "a", key: nil) == 201)
            #expect(try api.sends(to: "ana").count == 2)
            #expect(await send(Self.path, nil, key: "transactional a") == 201)
            #expect(try api.sends(to: "ana").count == 3)
            #expect(await send(Self.path, "a", key: "k") == 400)
            #expect(await send("/sends/id/create", nil, key: "k") == 400)
        }
    }

    @Test("A send that reaches no user is aborted, and its repetition too")
    func aborted() async throws {
        try await withReceipts { (api) async throws in
            for user in ["nobody", "ana"] {
                let body = #"{"external_send_id":"\#(user)","recipient":{"external_user_id":"\#(user)"}}"#
                let (status, json) = await api.post(Self.path, body)
                #expect(status == 201)
                #expect(json.at("status") == "aborted")
                #expect(json.at("metadata").present("sent_at") == nil)
                #expect(await api.post(Self.path, body).json == json)
            }
            #expect(try api.sends(to: "ana").count == 1)
        }
    }

    @Test(
        "What cannot be sent is refused, and nothing is stored",
        arguments: [
            ("unknown", #"{"recipient":{"external_user_id":"ana"}}"#, "Invalid Campaign ID"),
            ("receipt", "{}", "No Recipients"),
            ("receipt", #"{"recipient":[]}"#, "`recipient` must have exactly one of"),
            (
                "receipt", #"{"external_send_id":"a b","recipient":{"external_user_id":"ana"}}"#,
                "`external_send_id` must be 1 to 64"
            ),
            (
                "receipt", #"{"trigger_properties":1,"recipient":{"external_user_id":"ana"}}"#,
                "`trigger_properties` must be an object."
            ),
        ])
    func refused(campaign: String, body: String, message: String) async throws {
        try await withReceipts { (api) async throws in
            let last = try api.log.lastPosition()
            let (status, json) = await api.post("/transactional/v1/campaigns/\(campaign)/send", body)
            #expect(status == 400)
            #expect(json.at("message").text.hasPrefix(message), "\(json)")
            #expect(try api.log.lastPosition() == last)
        }
    }

    @Test("An ID for sends is the one that was asked for, or a new one")
    func sendIDs() async throws {
        try await withReceipts { (api) async throws in
            let own = await api.post("/sends/id/create", #"{"campaign_id":"receipt","send_id":"mine"}"#)
            #expect(own.status == 201)
            #expect(own.json.at("send_id") == "mine")
            let made = await api.post("/sends/id/create", #"{"campaign_id":"receipt"}"#).json.at("send_id").text
            #expect(SendRequest.isSendID(made))
            #expect(await api.post("/sends/id/create", #"{"campaign_id":"receipt"}"#).json.at("send_id").text != made)
            for body in [
                "{}", #"{"campaign_id":"unknown"}"#, #"{"campaign_id":"receipt","send_id":""}"#,
                #"{"campaign_id":"receipt","send_id":"\#(String(repeating: "a", count: 65))"}"#,
            ] {
                #expect(await api.post("/sends/id/create", body).status == 400)
            }
        }
    }
}
