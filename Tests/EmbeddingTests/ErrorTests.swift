import ProfileLog
import TestSupport
import Testing

@Suite("Errors, as an embedder sees them")
struct ErrorTests {
    let folder = TemporaryFolder()

    /// Expects that `body` throws an error of `type`, and that it says what is true and what to do next.
    private func expect<Failure: LogError>(
        _ type: Failure.Type, at location: SourceLocation = #_sourceLocation, _ body: () throws -> Void
    ) {
        let error = #expect(throws: type, sourceLocation: location) { try body() }
        guard let error else { return }
        for text in [error.description, error.remedy] {
            #expect(text.hasSuffix(".") && !text.contains("profilecli"), "\(text)", sourceLocation: location)
        }
    }

    @Test("A refused append is a LogError with a remedy")
    func appends() throws {
        let log = try folder.open()
        try log.append([.happened("seen")], to: .ana)
        expect(AppendError.self) { _ = try log.append([.happened("seen")], to: .ana, expecting: .noUser) }
        expect(AppendError.self) { _ = try log.append([.happened("")], to: .ana) }
        expect(AppendError.self) { _ = try log.change(.merge(source: .bo, target: .ana)) }
        expect(AppendError.self) { _ = try log.void(Position(rawValue: 9), actor: "ops", reason: "a test") }
        _ = try log.append([.happened("a")], to: .ana, idempotencyKey: "k")
        expect(AppendError.self) { _ = try log.append([.happened("b")], to: .ana, idempotencyKey: "k") }
        log.close()
        expect(AppendError.self) { _ = try log.append([.happened("seen")], to: .ana) }
    }

    @Test("The refusal of a void event says which call lets it count again")
    func voids() throws {
        let log = try folder.open()
        let receipt = try log.append([.happened("seen")], to: .ana)
        try log.void(receipt.last, actor: "ops", reason: "a test")
        let error = #expect(throws: AppendError.self) { try log.void(receipt.last, actor: "ops", reason: "again") }
        #expect(error?.remedy.contains("`log.unvoid`") == true)
    }

    @Test("A store that cannot be opened, and a log that is closed, are a LogError with a remedy")
    func stores() throws {
        expect(StorageError.self) { _ = try EventLog(path: folder("none")) }
        let log = try folder.open()
        log.close()
        expect(StorageError.self) { _ = try log.find(.ana) }
    }

    @Test("A moment that cannot be asked is a LogError with a remedy")
    func moments() throws {
        let log = try folder.open()
        try log.append([.happened("seen")], to: .ana)
        expect(MomentError.self) { _ = try log.profile(of: "ana", asOf: .version(99)) }
        expect(MomentError.self) { _ = try log.profile(of: "ana", asOf: .position(99)) }
        // In the year 2100.
        let later = Timestamp(rawValue: 4_102_444_800_000_000)
        expect(MomentError.self) { _ = try log.profile(of: "ana", asOf: .time(later)) }
    }
}
