import ProfileLog
import Testing

@testable import ProfileLogBrazeAPI
@testable import ProfileLogRequests

@Suite("Profiles as a request meets and leaves them")
struct TrackProfilesTests {
    @Test(
        "Attributes are those of the log, then what the request did, whether what was read is kept or not",
        arguments: [0, 1 << 20])
    func attributes(room: Int) async throws {
        try await withAPI { (api) async throws in
            await api.track(Wire.user("a", #""email":"x@y.example","first_name":"Ana","n":1,"made":true"#))
            let user = try #require(try api.log.find(.externalID("a")))
            let ids: [UserID] = [.externalID("a"), .assignedID(user.brazeID)]
            var profiles = TrackProfiles(api.view(), room: room)
            func names(_ id: UserID) throws -> [AttributeValue?] {
                try [StandardAttribute.email, .firstName, .lastName].map { try profiles.attribute($0, of: id) }
                    + ["n", "made"].map { try profiles.customAttribute($0, of: id) }
            }
            for id in ids { #expect(try names(id) == ["x@y.example", "Ana", nil, 1, true]) }
            profiles.add(
                [.userAttributesChanged([.init(.firstName, .null), .init(.lastName, "Li")])], to: ids[0])
            profiles.add([.customAttributesChanged([.init("n", .increment(2)), .init("made", .unset)])], to: ids[1])
            for id in ids { #expect(try names(id) == ["x@y.example", nil, "Li", 3, nil]) }
            profiles.add([.userAttributesChanged([.init(.email, "z@y.example")])], to: ids[1])
            profiles.add([.customAttributesChanged([.init("n", .increment(2))])], to: ids[0])
            for id in ids { #expect(try names(id) == ["z@y.example", nil, "Li", 5, nil]) }
            #expect(try profiles.email(of: ids[0]) == .email("z@y.example"))
            // A user made by the request has its values.
            profiles.add([.userAttributesChanged([.init(.firstName, "Bo")])], to: .externalID("b"))
            #expect(try names(.externalID("b")) == [nil, "Bo", nil, nil, nil])
        }
    }
}
