public import ProfileLog

/// A law that each projection keeps: the log relies on it.
public enum Law: Hashable, Sendable, CaseIterable {
    /// The same history gives the same bytes, in every log and at every time.
    ///
    /// A projection that breaks it reads a clock or a random number, or writes a set or dictionary in the order of its
    /// hashes. Then `replay(verify: true)` and `check()` report differences in a sound store, and a real one is not
    /// seen.
    case equalBytes
    /// A state that was encoded and decoded is the same state.
    ///
    /// When it breaks, a read after a restart gives another state than the one before it; a state that cannot be
    /// decoded is folded from the first event at every read.
    case roundTrip
    /// Each stored state leads to the same later states as a fold from the first event.
    ///
    /// When it breaks, a state depends on where the log happened to store snapshots, which differs between two
    /// programs, and between a store and its copy.
    case everySnapshot
    /// The initial state, merged into a state, changes nothing; a state, merged into the initial one, stays. Of
    /// projections by user.
    ///
    /// When it breaks, what an anonymous user did is lost, or counts twice, as soon as they sign in.
    case mergeOfNothing
    /// A history with a void event gives the state of one without the event.
    ///
    /// When it breaks, a correction does not correct: what was made void leaves a trace in the state. A state that
    /// counts events or flushes breaks it without being wrong: a launch flushes what is void.
    case voidedEqualsAbsent
}

/// The error of ``checkLaws(of:given:except:)``: a projection breaks a law.
public struct LawBroken: LogError, Hashable {
    /// The law.
    public let law: Law
    /// The number of the step at which it was seen, from 0; nil if that is before the first step.
    public let step: Int?
    /// The projection's name, the words of the step, and what was seen.
    let projection: String
    let words: String
    let fact: String

    /// The facts in one line.
    public var description: String {
        let place = step.map { "at step \($0) (\(words))" } ?? "before the first step"
        return "The projection \(projection) breaks the law \(law) \(place): \(fact)."
    }

    /// The next step.
    public var remedy: String {
        switch law {
        case .equalBytes:
            "Use only the event and the state in apply and merge, and encode sets and dictionaries in sorted order."
        case .roundTrip: "Encode all that the state has, and let decode read it back."
        case .everySnapshot: "Encode all of the state that apply reads."
        case .mergeOfNothing:
            "Let merge add what the source has and nothing else; if users are never merged, leave this law out."
        case .voidedEqualsAbsent:
            "Change the state by event.content only; if it must have versions or flushes, leave this law out."
        }
    }
}
