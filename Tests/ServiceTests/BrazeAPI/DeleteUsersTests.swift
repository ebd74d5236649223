import Foundation
import ProfileLog
import ProfileLogRequests
import Testing

@Suite("POST /users/delete")
struct DeleteUsersTests {
    private func track(_ api: API, _ body: String) async {
        let answer = await api.answer(APIRequest(.post, "/users/track", body: Array(body.utf8)))
        #expect(answer.status == 201)
    }

    private func delete(_ api: API, _ body: String) async -> (status: Int, body: String) {
        let answer = await api.answer(APIRequest(.post, "/users/delete", body: Array(body.utf8)))
        return (answer.status, String(decoding: answer.body, as: UTF8.self))
    }

    private let three =
        #"{"attributes":[{"external_id":"a","email":"x@example.com"},{"external_id":"b","email":"x@example.com"},"#
        + #"{"user_alias":{"alias_name":"n","alias_label":"l"},"_update_existing_only":false,"shoe":1}]}"#

    @Test("Users of every kind of ID are gone; who is unknown is counted and named")
    func all() async throws {
        try await withAPI { (api) async throws in
            await track(api, three)
            let braze = try #require(try api.log.find(.externalID("b"))).brazeID
            let answer = await delete(
                api,
                #"{"external_ids":["a","nobody"],"user_aliases":[{"alias_name":"n","alias_label":"l"}],"#
                    + #""braze_ids":["\#(braze)"]}"#
            )
            #expect(answer.status == 201)
            #expect(
                answer.body
                    == #"{"deleted":4,"message":"success","dropped":[{"reason":"no such user exists","#
                    + #""input_array":"external_ids","index":1}]}"#
            )
            for id in [UserID.externalID("a"), .externalID("b"), .alias(label: "l", name: "n"), .assignedID(braze)] {
                #expect(try api.log.find(id) == nil)
            }
            let again = await delete(api, #"{"external_ids":["a"]}"#)
            #expect(again.status == 201 && again.body.contains("no such user exists"))
        }
    }

    @Test("Of several users with an address the prioritization takes one; without it none is erased")
    func contacts() async throws {
        try await withAPI { (api) async throws in
            await track(api, three)
            let unclear = await delete(api, #"{"email_addresses":["x@example.com"]}"#)
            #expect(unclear.status == 201 && unclear.body.contains("leaves 2 users"))
            let clear = await delete(
                api, #"{"email_addresses":[{"email":"X@example.com","prioritization":["most_recently_updated"]}]}"#)
            #expect(clear.body == #"{"deleted":1,"message":"success"}"#)
            #expect(try api.log.find(.externalID("b")) == nil && api.log.find(.externalID("a")) != nil)
            #expect(
                await delete(api, #"{"email_addresses":["x@example.com"]}"#).body
                    == #"{"deleted":1,"message":"success"}"#)
            #expect(try api.log.find(.externalID("a")) == nil)
        }
    }

    @Test("A repeated deletion under a key answers as any second one does")
    func key() async throws {
        try await withAPI { (api) async throws in
            await track(api, three)
            for reason in [false, true] {
                let answer = await api.answer(
                    APIRequest(
                        .post, "/users/delete", idempotencyKey: "k", body: Array(#"{"external_ids":["a"]}"#.utf8)))
                #expect(answer.status == 201)
                let body = String(decoding: answer.body, as: UTF8.self)
                #expect(body.hasPrefix(#"{"deleted":1,"message":"success""#))
                #expect(body.contains("no such user exists") == reason)
            }
        }
    }

    @Test("Deleting by an address does not delete a person that its user was just merged into")
    func mergedMeanwhile() async throws {
        try await withAPI { (plain) async throws in
            let writer = LogWriter(plain.log)
            let api = API(writer: writer)
            // Whether a name is one person's alone takes a look at the whole log: there is time between look-up and
            // erasure.
            let event = ProfileEvent.customEventLogged(CustomEvent(name: "e"))
            for _ in 0..<40 { _ = try api.log.append(Array(repeating: event, count: 1_000), to: .externalID("other")) }
            let merge = #"{"aliases_to_identify":[{"external_id":"jane","user_alias":\#(Wire.alias("l", "n"))}]}"#
            for round in 0..<12 {
                await api.track(
                    Wire.user("jane", #""email":"jane@x.example""#),
                    Wire.aliasOnly("l", "n", #""email":"shared@x.example","own":1"#))
                async let deleted = delete(api, #"{"email_addresses":["shared@x.example"]}"#).body
                async let merged = api.say("/users/identify", merge)
                // One of the two comes first, and the other one finds no user.
                let (isDeleted, isMerged) = await (merged.contains("no such user"), deleted.contains("no user has"))
                #expect(isDeleted != isMerged, "in round \(round)")
                #expect(try api.log.find(.externalID("jane")) != nil, "in round \(round)")
                #expect(await delete(api, #"{"external_ids":["jane"]}"#).status == 201)
            }
            await writer.close()
        }
    }

    static let refusals: [(String, String)] = [
        (#"{}"#, "names no user"), (#"{"external_ids":[]}"#, "names no user"),
        (#"{"external_ids":"a"}"#, "must be an array"),
        (#"{"external_ids":[{}]}"#, "external_ids[0]"), (#"{"email_addresses":["nowhere"]}"#, "email_addresses[0]"),
        (#"{"email_addresses":[{"email":"x@example.com"}]}"#, "prioritization"),
        (
            #"{"email_addresses":[{"email":"x@example.com","prioritization":["least_recently_updated"]}]}"#,
            "prioritization"
        ),
        (#"{"external_ids":[\#((0...50).map(String.init).joined(separator: ","))]}"#, "of at most 50"),
    ]

    @Test("What is no list of users is refused, and no user is erased", arguments: refusals)
    func refused(body: String, reason: String) async throws {
        try await withAPI { (api) async throws in
            await track(api, three)
            let answer = await delete(api, body)
            #expect(answer.status == 400 && answer.body.contains(reason), "\(answer.body)")
            #expect(try api.log.userCount() == 3)
        }
    }
}
