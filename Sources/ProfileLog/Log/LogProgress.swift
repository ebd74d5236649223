/// The progress of a long piece of work.
public struct LogProgress: Hashable, Sendable, CustomStringConvertible {
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

    /// The part of this stage that is done, from 0 to 1; nil if the whole is not known.
    public var fraction: Double? { total == 0 ? nil : min(1, Double(done) / Double(total)) }

    /// A line for people: `replay: 40000 of 1000000 events`.
    public var description: String { total == 0 ? stage : "\(stage): \(done) of \(total) \(unit)" }
}
