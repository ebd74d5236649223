internal import Synchronization

/// What requests under way are about to say of subjects of which nothing was said: of two who come at once, one decides for both.
///
/// Only for requests of this process. Another one that serves the same store may store something else meanwhile.
final class Claims<Subject: Hashable & Sendable, Content: Hashable & Sendable>: Sendable {
    private let claims = Mutex<[Subject: Claim]>([:])

    private struct Claim {
        let content: Content
        var holders = 0
    }

    /// What one request holds, until it is stored, or nobody decides by it any more.
    final class Held {
        private let claims: Claims
        private var subjects: Set<Subject> = []

        init(_ claims: Claims) { self.claims = claims }

        deinit { release() }

        /// Claims `content` for `subject`; gives what is claimed for it then, by whomever.
        func claim(_ subject: Subject, _ content: Content) -> Content {
            let (isNew, claimed) = claims.claims.withLock { claims in
                var claim = claims[subject] ?? Claim(content: content)
                guard claim.content == content, !subjects.contains(subject) else { return (false, claim.content) }
                claim.holders += 1
                claims[subject] = claim
                return (true, content)
            }
            if isNew { subjects.insert(subject) }
            return claimed
        }

        /// Gives everything back: what was stored is in the log by now.
        func release() {
            if subjects.isEmpty { return }
            claims.claims.withLock { claims in
                for subject in subjects {
                    claims[subject]?.holders -= 1
                    if claims[subject]?.holders == 0 { claims[subject] = nil }
                }
            }
            subjects = []
        }
    }
}
