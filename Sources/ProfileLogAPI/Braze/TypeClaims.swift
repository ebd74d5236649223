internal import ProfileLog
internal import Synchronization

/// The types that requests under way are about to give to attributes without one: of two first values at once, one decides for both.
///
/// Only for requests of this process. Another one that serves the same store may store a first value of another type meanwhile.
final class TypeClaims: Sendable {
    private let claims = Mutex<[Name: Claim]>([:])

    private struct Claim {
        let type: AttributeType
        var holders = 0
    }

    /// What one request holds, until it is stored, or nobody decides by it any more.
    final class Held {
        private let claims: TypeClaims
        private var names: Set<Name> = []

        init(_ claims: TypeClaims) { self.claims = claims }

        deinit { release() }

        /// Claims `type` for `name`; gives the type for which it is claimed then, by whomever.
        func claim(_ name: Name, _ type: AttributeType) -> AttributeType {
            let (isNew, claimed) = claims.claims.withLock { claims in
                var claim = claims[name] ?? Claim(type: type)
                guard claim.type == type, !names.contains(name) else { return (false, claim.type) }
                claim.holders += 1
                claims[name] = claim
                return (true, type)
            }
            if isNew { names.insert(name) }
            return claimed
        }

        /// Gives everything back: what was stored is in the catalogue by now.
        func release() {
            if names.isEmpty { return }
            claims.claims.withLock { claims in
                for name in names {
                    claims[name]?.holders -= 1
                    if claims[name]?.holders == 0 { claims[name] = nil }
                }
            }
            names = []
        }
    }
}
