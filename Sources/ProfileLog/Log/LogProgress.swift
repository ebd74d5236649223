/// How far a long piece of work has come.
public struct LogProgress: Hashable, Sendable {
    /// What is being done, in a word or two.
    package var stage: String
    /// How much is done of this stage, in `unit`.
    package var done: UInt64
    /// Of how many.
    package var total: UInt64
    /// What is counted.
    package var unit: String

    /// Makes a note of progress.
    package init(stage: String, done: UInt64, total: UInt64, unit: String = "events") {
        self.stage = stage
        self.done = done
        self.total = total
        self.unit = unit
    }
}
