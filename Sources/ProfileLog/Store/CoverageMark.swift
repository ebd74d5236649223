#if DEBUG
    internal import Synchronization
#endif

/// A rare branch on the path of a commit.
///
/// A test that reaches one says so, `@Test("…", .hits(.repetition))`, and fails if it does not. `CoverageMarkTests`
/// fails for a mark that no test claims. A mark is heard by the task that listens, by its children, and by the
/// threads of the writers that it makes. In a release build it is nothing.
package enum CoverageMark: String, CaseIterable, Sendable {
    // Decisions
    /// A user is not at the version that the caller expects.
    case versionConflict
    /// A fact that a decision read has changed before its commit.
    case preconditionChanged
    /// More events came after a decision than a commit looks through.
    case decisionTooOld
    /// The key of an append is in the log, with the same content.
    case repetition
    /// As `repetition`, by what an erasure left of the append.
    case repetitionOfErased
    /// The key of an append is in the log, with another content.
    case keyReused
    /// The names of an append have the numbers of another log, or of names that were forgotten.
    case namesRenumbered
    /// Damage refuses an append that needs the damaged part.
    case damageRefused

    // Commits
    /// The appends that wait are more than one commit holds.
    case commitFull
    /// A group of appends ends at the first that is refused.
    case endedAtRefusal
    /// An append was refused after a part of it was recorded: the commit is given up, and the appends before it are
    /// committed.
    case givenUp
    /// A commit has repetitions only, and syncs what another process may have left.
    case repetitionSynced
    /// A commit failed after it was decided: the tail holds events that are not in the log.
    case tailTakenBack
    /// Another process committed between the caches of an erasure and its batch.
    case erasureOvertaken
    /// Another store's batch came first, and what was decided is decided again.
    case decidedAgain
    /// A batch of another store does not follow the end of the log.
    case batchGap
    /// A batch of another store has names that do not follow those of this one.
    case batchOfOtherNames

    // The writer
    /// A closed writer takes nothing.
    case writerClosed
    /// More waits for the writer than may.
    case writerFull
    /// One commit holds a part of the appends that wait.
    case writerTookPart

    // The file
    /// A file of the store was removed or replaced.
    case filesReplaced
    /// A file of the store was overwritten in place.
    case filesOverwritten
    /// The disk or the map is full, and nothing is stored.
    case diskFull
    /// The disk failed in the commit, and whether it is stored is unknown.
    case outcomeUnknown

    // Caches
    /// Another log of the store has written slices of the flush that this one continues.
    case flushContinued
    /// A slice found a long search, and leaves it to the time before the next one.
    case searchPutOff
    /// The caches could not be continued, and are made again.
    case cachesRemade

    #if DEBUG
        /// Hears the marks that a test hits.
        package final class Listener: Sendable {
            private let heard = Mutex<Set<CoverageMark>>([])

            package init() {}

            /// The marks that were hit so far.
            package var hits: Set<CoverageMark> { heard.withLock { $0 } }

            package func hear(_ mark: CoverageMark) { heard.withLock { _ = $0.insert(mark) } }
        }

        /// The listener of this task.
        @TaskLocal package static var listener: Listener?
    #endif

    /// Tells the test that listens, if one does.
    @inlinable
    @inline(__always)
    package static func hit(_ mark: CoverageMark) {
        #if DEBUG
            listener?.hear(mark)
        #endif
    }

    /// `work` for a thread of its own, heard by who listens to this task.
    package static func carried(_ work: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        #if DEBUG
            let listener = listener
            return { $listener.withValue(listener, operation: work) }
        #else
            return work
        #endif
    }
}
