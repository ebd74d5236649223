/// What is under way on a device and takes effect later.
struct Agenda {
    private var steps: [Step] = []

    /// One thing that takes effect at its time.
    struct Step {
        var due: Timestamp
        var process: Name
        var work: Work
    }

    enum Work {
        /// A save puts back the list that it read, with its item.
        case write(PendingWrite)
        /// A flush removes what it read, or more.
        case remove([ListKey: [PublishedList.Entry]])
    }

    /// A list as a save has read it and will write it.
    struct PendingWrite {
        var key: ListKey
        /// What was read.
        var entries: [PublishedList.Entry]
        /// What is appended.
        var new: PublishedList.Entry
        var updates: Int
        /// Why the save did not take over what it overwrites; nil if it did.
        var overwrites: Fault?

        var result: [PublishedList.Entry] { entries + [new] }
    }

    mutating func add(_ step: Step) {
        let place = steps.firstIndex { step.due < $0.due } ?? steps.endIndex
        steps.insert(step, at: place)
    }

    /// Takes out the first step that is due by `time`.
    mutating func next(until time: Timestamp) -> Step? {
        guard let first = steps.first, first.due <= time else { return nil }
        return steps.removeFirst()
    }

    /// Takes out the first step of `process`.
    mutating func next(of process: Name) -> Step? {
        steps.firstIndex { $0.process == process }.map { steps.remove(at: $0) }
    }

    /// The saves under way.
    var writes: [PendingWrite] {
        steps.compactMap { if case .write(let write) = $0.work { write } else { nil } }
    }
}
