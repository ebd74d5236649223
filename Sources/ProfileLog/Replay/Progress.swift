/// How far a long piece of work has come.
public struct LogProgress: Hashable, Sendable {
    /// What is being done, in a word or two.
    public var stage: String
    /// Events (or rows) done in this stage.
    public var done: UInt64
    /// Of how many.
    public var total: UInt64

    /// Makes a note of progress.
    public init(stage: String, done: UInt64, total: UInt64) {
        self.stage = stage
        self.done = done
        self.total = total
    }
}
