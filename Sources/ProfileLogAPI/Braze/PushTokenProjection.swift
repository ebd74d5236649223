internal import ProfileLog

/// Folds a store into the push tokens that its users have: an import leaves those alone.
///
/// What waits on a device is not looked at: an SDK tells its token otherwise.
enum PushTokenProjection: Projection {
    struct State: Hashable, Sendable {
        private var tokens: [UserNumber: Set<PushToken>] = [:]
        /// How many users have a token.
        private var owners: [PushToken: Int] = [:]

        /// Whether somebody has `token`.
        func holds(_ token: PushToken) -> Bool { owners[token] != nil }

        fileprivate func tokens(of user: UserNumber) -> Set<PushToken> { tokens[user] ?? [] }

        fileprivate mutating func set(_ new: Set<PushToken>, of user: UserNumber) {
            for token in tokens(of: user) {
                owners[token, default: 0] -= 1
                if owners[token] == 0 { owners[token] = nil }
            }
            for token in new { owners[token, default: 0] += 1 }
            tokens[user] = new.isEmpty ? nil : new
        }

        /// `[user, app, token]` for each, in order.
        fileprivate var entries: [(user: UInt64, token: PushToken)] {
            tokens.flatMap { user, tokens in tokens.map { (user: user.rawValue, token: $0) } }
                .sorted { ($0.user, $0.token.app, $0.token.token) < ($1.user, $1.token.app, $1.token.token) }
        }
    }

    static let name = "push-tokens"
    static let revision: UInt32 = 1
    static var scope: ProjectionScope { .store }
    static var initial: State { State() }

    static func apply(_ event: borrowing EventView, to state: inout State) {
        switch event.kind {
        case .userAttributesChanged:
            guard case .userAttributesChanged(let changes)? = event.recorded()?.event else { return }
            for change in changes where change.attribute == .pushTokens {
                state.set(Set((change.value.asArray ?? []).compactMap { PushToken($0) }), of: event.user)
            }
        case .usersMerged:
            guard case .usersMerged(let merge)? = event.recorded()?.event else { return }
            let both = state.tokens(of: event.user).union(state.tokens(of: merge.source))
            state.set([], of: merge.source)
            state.set(both, of: event.user)
        default: break
        }
    }

    static func encode(_ state: State) -> [UInt8] {
        var json = JSONWriter()
        json.array(state.entries) { json, entry in
            json.beginArray()
            json.value(entry.user)
            json.value(entry.token.app)
            json.value(entry.token.token)
            json.endArray()
        }
        return json.bytes
    }

    static func decode(_ bytes: UnsafeRawBufferPointer) -> State? {
        guard let entries = try? JSON.parse(bytes).asArray else { return nil }
        var state = State()
        for entry in entries {
            guard let parts = entry.asArray, parts.count == 3, let user = parts[0].asInteger, user > 0,
                let app = parts[1].asText, let text = parts[2].asText
            else { return nil }
            let number = UserNumber(rawValue: UInt64(user))
            state.set(state.tokens(of: number).union([PushToken(app: app, token: text)]), of: number)
        }
        return state
    }
}
