import ProfileLog
import TestSupport
import Testing

@testable import ProfileLogBrazeAPI
@testable import ProfileLogRequests

@Suite("Blocklists and apps of the workspace")
struct BrazeBlocklistTests {
    private static let blocking = "blocklist: {attributes: [x], events: [seen]}"

    @Test("A blocked attribute is left out with its reason, and the rest is stored")
    func attribute() async throws {
        try await withAPI { plain in
            let api = try plain.under(Self.blocking)
            #expect(await api.set(#""x":1,"y":2"#) == "is on the blocklist of the workspace")
            #expect(await api.exported() == .null)
            #expect(await api.exported("y") == 2)
            // Spelled otherwise it is another attribute.
            #expect(await api.set(#""X":1"#) == nil)
            #expect(await api.exported("X") == 1)
        }
    }

    @Test("A blocked event is counted as processed and not stored; it creates no user")
    func event() async throws {
        try await withAPI { plain in
            let api = try plain.under(Self.blocking)
            let (status, json) = await api.post(
                "/users/track",
                #"{"events":[{"external_id":"a","name":"seen","time":"2026-01-01"},"#
                    + #"{"external_id":"b","name":"Seen","time":"2026-01-01"}]}"#)
            #expect(status == 201)
            #expect(json.at("events_processed") == 2)
            #expect(json.at("dropped").count == 1)
            #expect(json.at("dropped.0.reason") == "the event is on the blocklist of the workspace")
            #expect(json.at("dropped.0.index") == 0)
            #expect(json.at("dropped.0.field") == .null)
            let read1 = try api.log.find(.externalID("a"))
            #expect(read1 == nil)
            let read2 = try api.log.find(.externalID("b"))
            #expect(read2 != nil)
            // Its errors are still reported.
            let wrong = await api.post("/users/track", #"{"events":[{"external_id":"a","name":"seen"}]}"#)
            #expect(wrong.status == 400)
        }
    }

    @Test("Of declared apps, an event names one or none")
    func apps() async throws {
        try await withAPI { plain in
            let api = try plain.under("apps: [{id: ios, name: iOS}]")
            let (_, json) = await api.post(
                "/users/track",
                #"{"events":[{"external_id":"a","name":"e","time":"2026-01-01","app_id":"ios"},"#
                    + #"{"external_id":"a","name":"e","time":"2026-01-01","app_id":"android"}]}"#)
            #expect(json.at("events_processed") == 2)
            #expect(json.at("dropped.0.reason") == "is no app of the workspace")
            #expect(json.at("dropped.0.field") == "app_id")
            #expect(json.at("dropped.0.index") == 1)
            let events = try api.log.events(from: .start, limit: 10).events
            let apps = events.filter { $0.event.kind != .objectsLeftOut }.map(\.context.app)
            #expect(apps == [nil, "ios", nil])
            #expect(
                await plain.post(
                    "/users/track",
                    #"{"events":[{"external_id":"a","name":"e","time":"2026-01-01","app_id":"android"}]}"#
                ).json.at("dropped") == .null)
        }
    }
}
