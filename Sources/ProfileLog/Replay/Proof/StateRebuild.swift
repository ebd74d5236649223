/// Folds the stored states of an older program again, next to the live ones, and makes the new ones live.
///
/// It goes one small step at a time. Until it is done, reads fold whole histories (docs/decisions/0010).
///
/// States of a newer program stay: two programs on one store would swap without end.
///
/// ```swift
/// var rebuild = StateRebuild()
/// while case let step = rebuild.step(log), !step.isDone { rest(step.news) }
/// ```
package struct StateRebuild: Sendable {
    /// The news of a step, for an operator.
    package enum News: Equatable, Sendable {
        /// The rebuild of states begins.
        case begun
        /// They were folded, and are live now.
        case swapped
        /// Another program on this store folded them, or discarded what was folded.
        case endedElsewhere
        /// The step failed; the next one tries again.
        case failed(Failure)
    }

    /// An error of a step. Two with the same text are one piece of news.
    package struct Failure: Equatable, Sendable {
        package let error: any Error

        package static func == (one: Self, other: Self) -> Bool { "\(one.error)" == "\(other.error)" }
    }

    package struct Step: Sendable {
        /// The news of the step; nil if there is nothing to say, or if it was said before.
        package var news: News?
        /// Tells whether nothing is left to do.
        package var isDone = false
        package var isFailure = false
    }

    private var isAnnounced = false
    private var isSwapped = false
    private var lastFailure: News?

    package init() {}

    /// Folds one slice of users, swaps after the last one, or removes a part of the rows that are no longer read.
    package mutating func step(_ log: EventLog) -> Step {
        let wasAnnounced = isAnnounced
        do {
            return try advance(log)
        } catch {
            // Each program that shares the store may swap, and then the shadow of the others is gone.
            if !isSwapped, (try? Self.isNeeded(log)) == false {
                isSwapped = true
                // The step that failed may have been the first, and has not said that it began.
                return Step(news: wasAnnounced ? .endedElsewhere : nil)
            }
            let failure = News.failed(Failure(error: error))
            defer { lastFailure = failure }
            return Step(news: failure == lastFailure ? nil : failure, isFailure: true)
        }
    }

    private mutating func advance(_ log: EventLog) throws -> Step {
        if isSwapped { return Step(isDone: try !log.shadow.removeUnused()) }
        guard try Self.isNeeded(log) else {
            isSwapped = true
            return isAnnounced ? Step(news: .endedElsewhere) : Step(isDone: true)
        }
        let news: News? = isAnnounced ? nil : .begun
        isAnnounced = true
        if try log.shadow.removeUnused() { return Step(news: news) }
        guard try log.replayIntoShadow(progress: { _ in false }).isComplete else { return Step(news: news) }
        _ = try log.shadow.swap()
        isSwapped = true
        return Step(news: .swapped)
    }

    /// A shadow of before a restart is finished: only some of the states are looked at.
    private static func isNeeded(_ log: EventLog) throws -> Bool {
        try log.shadow.isBegun() || !log.shadow.projections(withStatesOf: .olderPrograms).isEmpty
    }
}
