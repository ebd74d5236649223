internal import ProfileLogRequests

/// A push token of an app: what tells one from another.
struct PushToken: Hashable, Sendable {
    var app: String
    var token: String
}

extension PushToken {
    /// The token that an entry of `push_tokens` is; nil if it is none.
    init?(_ entry: AttributeValue) {
        guard let app = entry[WireNames.appID]?.asText, let token = entry["token"]?.asText else { return nil }
        self.init(app: app, token: token)
    }

    /// The device that an entry of `push_tokens` names; nil if it names none.
    static func device(_ entry: AttributeValue) -> Name? {
        entry[WireNames.deviceID]?.asText.flatMap { $0.isEmpty ? nil : Name($0) }
    }

    /// The ID of a device that the request does not name: the same each time.
    var deviceID: String { deviceID(0) }

    /// As ``deviceID``, where that one and others before `number` are taken.
    func deviceID(_ number: Int) -> String {
        let suffix = number == 0 ? "" : "\0\(number)"
        return Hexadecimal.text(ContentHash.of(Array("\(app)\0\(token)\(suffix)".utf8)))
    }
}

/// Folds a store into the push tokens that its users have: imports do not touch them, and a device leads to the users
/// with a token on it.
///
/// What waits on a device is not looked at: an SDK tells its token otherwise.
enum PushTokenProjection: StoreProjection {
    struct State: Hashable, Sendable {
        private var tokens: [UserNumber: Set<Placed>] = [:]
        /// The number of users with the token.
        private var owners: [PushToken: Int] = [:]
        /// The users with a token on a device.
        private var users: [Name: Set<UserNumber>] = [:]

        /// Tells whether a user has `token`.
        func holds(_ token: PushToken) -> Bool { owners[token] != nil }

        /// Returns the users with a token on `device`, in the order of their creation.
        func users(on device: Name) -> [UserNumber] { users[device, default: []].sorted() }

        fileprivate func tokens(of user: UserNumber) -> Set<Placed> { tokens[user] ?? [] }

        fileprivate mutating func set(_ new: Set<Placed>, of user: UserNumber) {
            let old = tokens(of: user)
            for token in Set(old.map(\.token)) {
                owners[token, default: 0] -= 1
                if owners[token] == 0 { owners[token] = nil }
            }
            for case let device? in Set(old.map(\.device)) {
                users[device]?.remove(user)
                if users[device]?.isEmpty ?? false { users[device] = nil }
            }
            for token in Set(new.map(\.token)) { owners[token, default: 0] += 1 }
            for case let device? in Set(new.map(\.device)) { users[device, default: []].insert(user) }
            tokens[user] = new.isEmpty ? nil : new
        }

        /// Gives `target` the tokens that only `source` has (spec/rest-api 2.6).
        fileprivate mutating func merge(_ source: UserNumber, into target: UserNumber) {
            let own = tokens(of: target)
            let known = Set(own.map(\.token))
            let added = tokens(of: source).filter { !known.contains($0.token) }
            set([], of: source)
            set(own.union(added), of: target)
        }

        /// `[user, app, token, device]` for each, in order.
        fileprivate var entries: [(user: UserNumber, placed: Placed)] {
            tokens.sorted { $0.key < $1.key }.flatMap { user, tokens in tokens.sorted().map { (user, $0) } }
        }
    }

    /// A token with the device on which it is, as far as that is known.
    fileprivate struct Placed: Hashable, Comparable, Sendable {
        let token: PushToken
        let device: Name?

        private var parts: [Name] { [Name(token.app), Name(token.token), device ?? ""] }

        static func < (left: Self, right: Self) -> Bool { left.parts.lexicographicallyPrecedes(right.parts) }
    }

    static let name = "push-tokens"
    static let revision: UInt32 = 3
    static var initial: State { State() }

    static func apply(_ event: borrowing EventView, to state: inout State) {
        guard event.kind == .userAttributesChanged || event.kind == .usersMerged else { return }
        let fact = event.recorded()?.event
        if case .usersMerged(let merge) = fact { state.merge(merge.source, into: event.user) }
        guard case .userAttributesChanged(let changes) = fact else { return }
        for change in changes where change.attribute == .pushTokens {
            let entries = change.value.asArray ?? []
            state.set(Set(entries.compactMap(Placed.init)), of: event.user)
        }
    }

    static func encode(_ state: State) -> [UInt8] {
        var json = JSONWriter()
        json.array(state.entries) { json, entry in
            json.beginArray()
            json.value(entry.user.rawValue)
            json.value(entry.placed.token.app)
            json.value(entry.placed.token.token)
            if let device = entry.placed.device { json.value(device.text) }
            json.endArray()
        }
        return json.bytes
    }

    static func decode(_ bytes: UnsafeRawBufferPointer) -> State? {
        guard let entries = try? JSON.parse(bytes).asArray else { return nil }
        var tokens: [UserNumber: Set<Placed>] = [:]
        for entry in entries {
            guard let parts = entry.asArray, (3...4).contains(parts.count), let user = parts[0].asInteger, user > 0,
                let app = parts[1].asText, let text = parts[2].asText
            else { return nil }
            let device = parts.count == 4 ? parts[3].asText.map { Name($0) } : nil
            tokens[UserNumber(rawValue: UInt64(user)), default: []]
                .insert(Placed(token: PushToken(app: app, token: text), device: device))
        }
        var state = State()
        for (user, tokens) in tokens { state.set(tokens, of: user) }
        return state
    }
}

extension PushTokenProjection.Placed {
    /// Reads an entry of `push_tokens`; nil if it is no token.
    fileprivate init?(_ entry: AttributeValue) {
        guard let token = PushToken(entry) else { return nil }
        self.init(token: token, device: PushToken.device(entry))
    }
}
