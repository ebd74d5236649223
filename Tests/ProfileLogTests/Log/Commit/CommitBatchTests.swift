import Foundation
import ProfileLog
import TestSupport
import Testing

@testable import ProfileLogLog

@Suite("A commit batch as bytes")
struct CommitBatchTests {
    private static func sample(_ seed: UInt64) -> CommitBatch {
        var random = SeededGenerator(seed: seed)
        func bytes(_ most: Int, _ random: inout SeededGenerator) -> [UInt8] {
            (0..<random.next(below: most)).map { _ in UInt8(random.next(below: 256)) }
        }
        var batch = CommitBatch(firstPosition: random.next(), firstName: UInt32(random.next(below: 1 << 20)))
        for _ in 0..<random.next(below: 4) {
            batch.names.append(["", "played", "\u{E9}", "田中"][random.next(below: 4)])
        }
        for _ in 0..<random.next(below: 4) {
            batch.bytes += bytes(300, &random)
            batch.ends.append(batch.bytes.count)
        }
        for _ in 0..<random.next(below: 4) {
            batch.tombstones.append(.init(position: random.next(), tombstone: bytes(40, &random)))
            batch.forgottenNames.append(UInt32(random.next(below: 1 << 30)))
            batch.meta.append(.init(name: "erasures", value: bytes(20, &random)))
        }
        return batch
    }

    @Test("Decoding gives the batch that was encoded", arguments: UInt64(0)..<200)
    func roundTrip(seed: UInt64) throws {
        let batch = Self.sample(seed)
        let encoded = batch.encoded()
        #expect(try CommitBatch(decoding: encoded) == batch)
        #expect(batch.encoded() == encoded)
    }

    @Test("A flipped bit, a missing end and bytes after the end are refused", arguments: UInt64(0)..<20)
    func damaged(seed: UInt64) {
        let encoded = Self.sample(seed).encoded()
        for index in encoded.indices {
            var wrong = encoded
            wrong[index] ^= 1 << UInt8(seed % 8)
            #expect(throws: CommitBatch.DecodingError.self, "byte \(index)") { try CommitBatch(decoding: wrong) }
            #expect(throws: CommitBatch.DecodingError.self) { try CommitBatch(decoding: Array(encoded[..<index])) }
        }
        #expect(throws: CommitBatch.DecodingError.self) { try CommitBatch(decoding: encoded + [0]) }
    }

    @Test("Content with a right checksum that is none of a batch is refused", arguments: UInt64(0)..<200)
    func garbage(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var encoded = Self.sample(seed).encoded()
        guard encoded.count > 30 else { return }
        for _ in 0..<8 { encoded[12 + random.next(below: encoded.count - 16)] = UInt8(random.next(below: 256)) }
        let checksum = encoded[..<(encoded.count - 4)].withUnsafeBytes { crc32c($0) }
        withUnsafeBytes(of: checksum.littleEndian) { encoded.replaceSubrange((encoded.count - 4)..., with: $0) }
        // It may be another batch; the store refuses what does not fit.
        if let other = try? CommitBatch(decoding: encoded) {
            #expect(try CommitBatch(decoding: other.encoded()) == other)
        } else {
            #expect(throws: CommitBatch.DecodingError.self) { try CommitBatch(decoding: encoded) }
        }
    }

    @Test("A batch of a newer program is told from a damaged one")
    func newer() {
        var encoded = CommitBatch().encoded()
        encoded[3] = 9
        #expect(throws: CommitBatch.DecodingError.newerFormat(needed: 9, known: 1)) {
            try CommitBatch(decoding: encoded)
        }
    }

    @Test("Only CommitBatch.apply can write log, names and meta")
    func writers() throws {
        let sources = Repository.file("Sources")
        let paths = FileManager.default.enumerator(atPath: sources.path)?.compactMap { $0 as? String } ?? []
        let makers = try paths.filter { $0.hasSuffix(".swift") }.filter { path in
            try String(contentsOf: sources.appendingPathComponent(path), encoding: .utf8).contains("WritableTable(")
        }
        let names = makers.map { String($0.split(separator: "/").last ?? "") }
        #expect(Set(names) == ["Table.swift", "CommitBatch.swift"])
    }
}
