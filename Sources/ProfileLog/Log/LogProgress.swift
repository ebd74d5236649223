/// The progress of a long piece of work.
public struct LogProgress: Hashable, Sendable {
    /// The work that is being done, in a word or two.
    package var stage: String
    /// The part of this stage that is done, in `unit`.
    package var done: UInt64
    /// Of how many.
    package var total: UInt64
    /// The unit of the count.
    package var unit: String

    /// Makes a note of progress.
    package init(stage: String, done: UInt64, total: UInt64, unit: String = "events") {
        self.stage = stage
        self.done = done
        self.total = total
        self.unit = unit
    }
}
