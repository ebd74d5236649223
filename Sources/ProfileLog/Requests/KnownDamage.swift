internal import ProfileLogSnippets
internal import Synchronization

/// Counts the reads of this process that met damage, for metrics. A read that goes on without the damaged part counts
/// once.
package enum KnownDamage {
    private static let found = Atomic<Int>(0)

    package static var count: Int { found.load(ordering: .relaxed) }

    package static func note() { found.add(1, ordering: .relaxed) }

    /// Counts `error` if it is damage.
    package static func note(_ error: any Error) {
        if let error = error as? StorageError, error.isDamage { note() }
    }
}
