package import ProfileLog
public import Testing

/// Requires that a test hits the coverage marks that it claims (`CoverageMark`), each time that it runs.
public struct MarkTrait: TestTrait, TestScoping {
    fileprivate let marks: Set<CoverageMark>

    fileprivate init(_ marks: Set<CoverageMark>) { self.marks = marks }

    /// Runs the test, then looks what it hit.
    @concurrent
    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        #if DEBUG
            let listener = CoverageMark.Listener()
            try await CoverageMark.$listener.withValue(listener) { try await function() }
            expect(self, in: listener.hits)
        #else
            try await function()
        #endif
    }
}

extension Trait where Self == MarkTrait {
    /// The test hits these rare branches of the commit path.
    package static func hits(_ marks: CoverageMark...) -> Self { MarkTrait(Set(marks)) }
}

/// The claim of a test whose child process hits marks, for ``expect(_:in:location:)``.
package func hits(_ marks: CoverageMark...) -> MarkTrait { MarkTrait(Set(marks)) }

/// Fails the test for each mark that it claims and that is not in `heard`.
package func expect(
    _ claim: MarkTrait, in heard: Set<CoverageMark>, location: SourceLocation = #_sourceLocation
) {
    let missed = claim.marks.subtracting(heard).map(\.rawValue).sorted()
    #expect(missed.isEmpty, "marks that were not hit", sourceLocation: location)
}
