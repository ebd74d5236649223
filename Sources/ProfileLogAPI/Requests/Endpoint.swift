/// One method on one path of the API.
public struct Endpoint: Sendable {
    /// The method.
    public let method: APIRequest.Method
    /// The path; `{…}` in it is a place for a name.
    public let path: String
    /// What it is for, in a few words.
    public let summary: String
    /// The name of the permission for it: `v1.read` or `v1.write`, and Braze's own name for what speaks its format.
    ///
    /// Nil for a file that an export has made: its name cannot be guessed, and Braze's clients ask for it without a
    /// key.
    public let permission: String?
    /// Whether it is part of the native API, and none of Braze's format.
    public let isNative: Bool
    /// Whether a request is answered in microseconds, its commit aside, unless it ``APIRequest/takesLong``.
    public let isBrief: Bool

    static let nativePrefix = "/v1/"

    let answer: @Sendable (API, APIRequest) async throws -> APIAnswer

    init(
        _ method: APIRequest.Method, _ path: String, _ summary: String,
        _ answer: @escaping @Sendable (API, APIRequest) async throws -> APIAnswer
    ) {
        self.method = method
        self.path = path
        self.summary = summary
        self.answer = answer
        permission = Self.permission(method, path)
        isNative = path.hasPrefix(Self.nativePrefix)
        isBrief = path == "/users/track"
    }
}

extension API {
    /// Everything that the API can do.
    public static let endpoints = nativeEndpoints + brazeEndpoints

    private static let nativeEndpoints: [Endpoint] = [
        Endpoint(.post, "/v1/save/event", "save a custom event on a device") { try await $0.saveEvent($1) },
        Endpoint(.post, "/v1/save/attributes", "save custom attributes on a device") {
            try await $0.saveAttributes($1)
        },
        Endpoint(.post, "/v1/save/user-attribute", "save a user attribute on a device") {
            try await $0.saveUserAttribute($1)
        },
        Endpoint(.post, "/v1/log/event", "log a custom event, effective at once") { try await $0.logEvent($1) },
        Endpoint(.post, "/v1/log/attributes", "change custom attributes at once") { try await $0.logAttributes($1) },
        Endpoint(.post, "/v1/log/user-attribute", "change a user attribute at once") {
            try await $0.logUserAttribute($1)
        },
        Endpoint(.post, "/v1/log/purchase", "log a purchase, effective at once") { try await $0.logPurchase($1) },
        Endpoint(.post, "/v1/batch", "save and log many things at once, with a result for each") {
            try await $0.batch($1)
        },
        Endpoint(.post, "/v1/launch", "start the app on a device, which flushes what waits there") {
            try await $0.launch($1)
        },
        Endpoint(.post, "/v1/change-user", "put another user on a device") { try await $0.changeUser($1) },
        Endpoint(.get, "/v1/devices", "all devices, with who is on them and how they are set up") {
            try $0.devices($1)
        },
        Endpoint(.get, "/v1/devices/{device}", "one device") { try $0.device($1) },
        Endpoint(.post, "/v1/devices/{device}/launch", "start the app there") { try await $0.launch($1) },
        Endpoint(.post, "/v1/devices/{device}/leave", "the app leaves the foreground") { try await $0.leave($1) },
        Endpoint(.post, "/v1/devices/{device}/send", "the SDK sends what it has taken") { try await $0.send($1) },
        Endpoint(.post, "/v1/devices/{device}/settings", "set up network, SDK, sessions and app groups") {
            try await $0.changeSettings($1)
        },
        Endpoint(.post, "/v1/devices/{device}/log-out", "the user leaves, and the SDK is disabled") {
            try await $0.logOut($1)
        },
        Endpoint(.post, "/v1/devices/{device}/wipe", "the SDK forgets who was there and what it has not sent") {
            try await $0.wipe($1)
        },
        Endpoint(.post, "/v1/devices/{device}/change-user", "put another user on the device") {
            try await $0.changeUser($1)
        },
        Endpoint(.get, "/v1/pending", "what waits for a launch or to be sent, by device and storage") {
            try $0.pending($1)
        },
        Endpoint(.post, "/v1/pending/discard", "give up what waits, with a reason") { try await $0.discard($1) },
        Endpoint(.post, "/v1/pending/retry", "save a rejected item once more, corrected or as it is") {
            try await $0.retry($1)
        },
        Endpoint(.get, "/v1/rejected", "what was refused, by the SDK or of a request, with the reason") {
            try $0.rejected($1)
        },
        Endpoint(.get, "/v1/profile", "a user's profile, now or at any past position or time") { try $0.profile($1) },
        Endpoint(.get, "/v1/history", "one user's events") { try $0.history($1) },
        Endpoint(.get, "/v1/events", "the whole log, with a wait for news") { try await $0.events($1) },
        Endpoint(.get, "/v1/users", "all users") { try $0.users($1) },
        Endpoint(.post, "/v1/erase", "erase a person, with everything of theirs") { try await $0.erase($1) },
        Endpoint(.get, "/v1/whatif", "what the published snippets would have done") { try $0.whatIf($1) },
        Endpoint(.get, "/v1/stats", "how much the store holds") { try $0.stats($1) },
        Endpoint(.post, "/v1/reset", "empty a store for tests") { try await $0.reset($1) },
        Endpoint(.post, "/v1/clock", "set, advance or release the clock of a store for tests") {
            try await $0.setClock($1)
        },
    ]
}
