import ProfileLog
import TestSupport
import Testing

@Suite("A copy is bounded in bytes")
struct LargeCopyTests {
    @Test("Large records take several commits")
    func large() throws {
        let (folder, copy) = (TemporaryFolder(), TemporaryFolder())
        let log = try folder.open()
        let text = AttributeValue.string(String(repeating: "x", count: 95_000))
        for index in 0..<60 {
            let changes = (0..<10).map { AttributeChange(Name("a\($0)"), .set(text)) }
            _ = try log.append([.customAttributesChanged(changes)], to: .externalID("u\(index)"))
        }
        var steps = 0
        let report = try log.replay(into: copy.path) { progress in
            if progress.stage == "copy" { steps += 1 }
            return true
        }
        #expect(report.isComplete)
        #expect(steps == 2)
        let target = try copy.open(create: false)
        #expect(try target.rows(.log) == log.rows(.log))
    }
}
