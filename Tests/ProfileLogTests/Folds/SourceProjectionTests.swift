import ProfileLog
import Testing

@testable import ProfileLogFolds

@Suite("An example of a projection of one's own: events by source")
struct SourceProjectionTests {
    @Test("Each source has its count, and one without events has none")
    func counts() throws {
        try given(SourceProjection.self, .logged("a").from(.rest), .set("b", 1).from(.rest))
            .when(.launched, .saved("c"), .set(.email, .null).from(.import))
            .then(.init(counts: [.rest: 2, .app: 1, .extension: 1, .import: 1]))
    }

    @Test("A source that is not told is unknown, with a time and without")
    func unknown() throws {
        try given(SourceProjection.self).when(.logged("a").from(.unknown), .logged("a").from(.unknown).at(5))
            .then(.init(counts: [.unknown: 2]))
    }

    @Test("The counts' bytes do not depend on the order in which the sources came")
    func bytes() {
        let sources = EventSource.allCases
        let forward = SourceProjection.State(counts: Dictionary(uniqueKeysWithValues: sources.map { ($0, 300) }))
        var backward = SourceProjection.State()
        for source in sources.reversed() { backward.counts[source] = 300 }
        #expect(SourceProjection.encode(forward) == SourceProjection.encode(backward))
    }

    @Test("Bytes that are no counts are refused", arguments: [[1], [99, 0, 0, 0, 0, 0, 0, 0, 1]] as [[UInt8]])
    func noCounts(bytes: [UInt8]) {
        #expect(bytes.withUnsafeBytes { SourceProjection.decode($0) } == nil)
    }
}
