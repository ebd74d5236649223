import ProfileLog
import TestSupport
import Testing

@testable import ProfileLogRecords

@Suite("An object is stored with its members in order, whatever order they are given in")
struct ObjectOrderTests {
    private typealias Member = AttributeValue.Member

    private static let sorted: [Member] = [
        Member("a", 1), Member("b", .array([.object([Member("x", 1), Member("y", 2)])])),
        Member("c", .object([Member("\u{E9}", 1), Member("\u{20AC}", 2)])),
    ]
    private static let unsorted: [Member] = [
        Member("c", .object([Member("\u{20AC}", 2), Member("\u{E9}", 1)])),
        Member("b", .array([.object([Member("y", 2), Member("x", 1)])])), Member("a", 1),
    ]

    private static func events(_ members: [Member]) -> [ProfileEvent] {
        let match = AttributeValue.Member("id", .object(members))
        let operations: [AttributeOperation] = [
            .set(.object(members)), .set(.array([.object(members)])), .objectMerge(members),
            .arrayAdd([.object(members)]), .arrayRemove([.object(members)]), .objectsAdd([.object(members)]),
            .objectsUpdate([.init(match: match, object: members)], merging: true), .objectsRemove([match]),
        ]
        return operations.map { .customAttributesChanged([AttributeChange("k", $0)]) } + [
            .customEventLogged(CustomEvent(name: "e", properties: [Member("p", .object(members))])),
            .userAttributesChanged([UserAttributeChange(.facebook, .object(members))]),
        ]
    }

    private func records(_ events: [ProfileEvent]) throws -> [[UInt8]: [UInt8]] {
        let folder = TemporaryFolder()
        let log = try folder.open(options: .small(TestClock()))
        for event in events {
            _ = try log.append([event], to: .externalID("ana"), context: EventContext(source: .rest))
        }
        try log.expectSound()
        return try log.rows(.log)
    }

    @Test("A record has the same bytes, at every level")
    func bytes() throws {
        #expect(try records(Self.events(Self.unsorted)) == records(Self.events(Self.sorted)))
    }

    @Test("A merge keeps every value")
    func merge() throws {
        try given(ProfileProjection.self, .set("x", .object([Member("b", 1), Member("a", 1)])))
            .when(.changed("x", .objectMerge([Member("a", 2)])))
            .then { #expect($0["x"] == ["a": 2, "b": 1]) }
        try given(ProfileProjection.self, .set("x", ["b": ["d": 1, "c": 1]]))
            .when(
                .changed("x", .objectMerge([Member("b", .object([Member("d", 2), Member("c", 2)])), Member("a", 2)]))
            )
            .then { #expect($0["x"] == ["a": 2, "b": ["c": 2, "d": 2]]) }
    }

    @Test("What an earlier program stored out of order is read in order")
    func stored() throws {
        var writer = WireWriter()
        let object = writer.beginMessage(RecordField.Value.object)
        for (key, value) in [("b", 1), ("a", 2)] as [(String, Int64)] {
            let item = writer.beginMessage(1)
            writer.field(RecordField.Value.int, signed: value)
            writer.field(RecordField.Value.key, text: key)
            writer.endMessage(item)
        }
        writer.endMessage(object)
        #expect(ValueCodec.read(writer.bytes)?.value == ["a": 2, "b": 1])
    }
}
