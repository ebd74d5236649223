internal import ProfileLogSnippets

/// The reason why a request was not done: what is true, what to do next, and a status for it. Names fields, never
/// values.
package struct APIError: Error {
    package var status: Int
    /// One word for programs.
    package var code: String
    /// One sentence.
    package var error: String
    package var remedy: String
    /// The field at fault.
    package var place: String?
    /// The error in the field: `error` without its subject, for callers who know the field by another name.
    package var reason: String?
    /// Numbers that belong to it, as in `actual`.
    package var facts: [(name: String, value: UInt64)] = []
    package var allow: String?
    /// Headers of the answer that belong to it, as `Retry-After`.
    package var headers: [(name: String, value: String)] = []
    /// The parts of a request that were not done, where others were.
    package var dropped: [(reason: String, array: String, index: Int)] = []
    /// The send of which a part was stored.
    package var dispatch: String?
    /// Tells whether the request is well formed, and what it names is not in this store, or not in that state.
    package var isOfStore = false

    package init(
        status: Int, code: String, error: String, remedy: String, place: String? = nil, reason: String? = nil,
        facts: [(name: String, value: UInt64)] = [], allow: String? = nil,
        headers: [(name: String, value: String)] = []
    ) {
        (self.status, self.code, self.error, self.remedy) = (status, code, error, remedy)
        (self.place, self.reason, self.facts, self.allow, self.headers) = (place, reason, facts, allow, headers)
    }

    /// Status 400: `place` does not hold what it must.
    package static func invalid(_ place: String, _ reason: String, remedy: String = correctIt) -> APIError {
        let place = place.shown
        return APIError(
            status: 400, code: "invalid", error: "`\(place)` \(reason).", remedy: remedy, place: place, reason: reason)
    }

    /// Status 400: this store does not have what `place` names, or not in the state that is asked for.
    package static func invalidHere(_ place: String, _ reason: String, remedy: String) -> APIError {
        var apiError = invalid(place, reason, remedy: remedy)
        apiError.isOfStore = true
        return apiError
    }

    /// Runs `body`, in which an append is refused by the state of the store alone: its fields were read before.
    package static func decidingHere<Result>(_ body: () throws -> Result) throws -> Result {
        do { return try body() } catch let error as AppendError { throw APIError(refusedHere: error) }
    }

    /// As ``decidingHere(_:)-(()->_)``, for a body that waits.
    package static func decidingHere<Result>(_ body: () async throws -> Result) async throws -> Result {
        do {
            return try await body()
        } catch let error as AppendError {
            throw APIError(refusedHere: error)
        }
    }

    /// Translates a refusal by the state of the store.
    package init(refusedHere error: AppendError) {
        self.init(error)
        isOfStore = code == "invalid"
    }

    /// The next step after most mistakes, in words for a request and for a command alike.
    package static let correctIt = "Correct it and try again."

    package static var unknownDevice: APIError { APIError(.unknownDevice) }

    package static func tooLarge(_ what: String, bytes: Int) -> APIError {
        APIError(
            status: 413, code: "too_large", error: "\(what) is larger than \(bytes) bytes; nothing was stored.",
            remedy: "Send less at once.")
    }

    /// Status 400: a request in Braze's format has more of something than it may.
    package static func tooMany(_ what: String, most: Int, place: String? = nil) -> APIError {
        APIError(
            status: 400, code: "too_many_objects", error: "Max Input Length Exceeded: \(what), of at most \(most).",
            remedy: "Send them in several requests.", place: place)
    }

    package func answer(in format: APIFormat) -> APIAnswer { format == .native ? answer : messageAnswer }

    package var answer: APIAnswer {
        answer { json in
            write(to: &json)
            for fact in facts { json.member(fact.name, fact.value) }
            if isOfStore { json.member("of_store", true) }
        }
    }

    /// Writes what is wrong and what to do, as members.
    package func write(to json: inout JSONWriter) {
        json.member("error", error)
        json.member("remedy", remedy)
        json.member("code", code)
        json.member("place", place)
        json.member("reason", reason)
    }

    /// The error in the REST API's form: `message` is what clients of Braze read.
    private var messageAnswer: APIAnswer {
        answer { json in
            json.member("message", error)
            json.member("remedy", remedy)
            json.member("code", code)
            json.member("place", place)
            json.member("dispatch_id", dispatch)
            if !dropped.isEmpty {
                json.array("dropped", dropped) { $0.place("reason", $1.reason, $1.array, $1.index) }
            }
        }
    }

    private func answer(_ write: (inout JSONWriter) -> Void) -> APIAnswer {
        var answer = APIAnswer(status: status, body: JSONWriter.bytes(ofObject: write), allow: allow, code: code)
        answer.headers = headers
        return answer
    }
}

// MARK: - From the errors of the log

extension APIError {
    /// Translates `error`, from whatever layer, for the caller.
    package init(_ error: any Error) {
        switch error {
        case let error as APIError: self = error
        case let error as AppendError: self.init(error)
        case let error as StorageError: self.init(error)
        case let error as MomentError: self.init(error)
        case let error as ReadError: self.init(error)
        case let error as DocumentError: self = .invalid(error.place, error.reason, remedy: error.remedy)
        case let error as JSONError:
            self.init(
                status: 400, code: "invalid_json", error: error.description,
                remedy: "Correct the JSON and try again.", place: "byte \(error.offset)")
        default:
            self.init(
                status: 500, code: "internal", error: "Something failed that should not: \(type(of: error)).",
                remedy: "Tell us what you did; `profilecli check` says whether the store is sound.")
        }
    }

    package init(_ error: AppendError) {
        if case .refused(let storage) = error {
            self.init(storage)
            return
        }
        let (status, code) = Self.statusAndCode(error)
        KnownDamage.note(error)
        self.init(status: status, code: code, error: error.description, remedy: error.commandRemedy)
        switch error {
        case .versionConflict(_, _, let actual): facts = [("actual", actual.rawValue)]
        case .keyReused(let position): facts = [("position", position.rawValue)]
        case .invalid(let place, _, _):
            self.place = place.shown
            isOfStore = error == .appRemoved
        case .unknownUser(let id):
            place = "user"
            remedy = id.wantedForm ?? "See `GET /v1/users` for those that exist."
        case .unknownDevice:
            place = "device"
            remedy = "Save or launch something on it first; `GET /v1/devices` lists those that are known."
        case .unavailable, .outcomePending: headers = [("Retry-After", "1")]
        default: break
        }
    }

    private static func statusAndCode(_ error: AppendError) -> (Int, String) {
        switch error {
        case .versionConflict: (412, "version_conflict")
        case .conflict: (503, "busy")
        case .keyReused: (409, "key_reused")
        case .invalid: (400, "invalid")
        case .unknownUser: (404, "unknown_user")
        case .unknownDevice: (404, "unknown_device")
        case .pendingFull: (409, "pending_full")
        case .tooLarge: (413, "too_large")
        case .overloaded: (429, "overloaded")
        case .closed: (503, "closed")
        case .refused(let error): statusAndCode(error)
        case .outcomeUnknown: (503, "outcome_unknown")
        case .unavailable: (503, "unavailable")
        case .outcomePending: (503, "outcome_pending")
        }
    }

    package init(_ error: ReadError) {
        switch error {
        case .tooLong(let limit):
            self.init(
                status: 503, code: "read_too_long",
                error: "The answer was not ready within \(DurationText.compact(limit)), the limit of a read.",
                remedy: "Ask for less: one field, a smaller `limit`, a narrower condition; or start the service with a "
                    + "higher --read-timeout.",
                headers: [("Retry-After", "60")])
        case .abandoned:
            // For the log and the metrics: no client reads it.
            self.init(
                status: 499, code: "abandoned", error: "The client ended the connection before the answer was ready.",
                remedy: "Ask again.")
        case .tooLarge(let bytes):
            self.init(
                status: 413, code: "too_large",
                error: "The values to show would take more than \(bytes >> 20) MiB of memory.",
                remedy: "Ask without the log, or for the events that changed one attribute (`history --field`).")
        case .tooManyToOrder(let most):
            self.init(
                status: 413, code: "too_large",
                error: "More than \(most) events would have to be put in the order of occurrence.",
                remedy: "Ask for one device, for an earlier moment, or in the order of recording (omit `order`).")
        }
    }

    package init(_ error: StorageError) {
        let (status, code) = Self.statusAndCode(error)
        KnownDamage.note(error)
        self.init(status: status, code: code, error: error.description, remedy: error.commandRemedy)
    }

    private static func statusAndCode(_ error: StorageError) -> (Int, String) {
        switch error {
        case .diskFull, .copyFull, .noRoomToOpen: (507, "disk_full")
        case .mapFull: (507, "map_full")
        case .inUse, .openElsewhere: (409, "in_use")
        case .readersFull: (503, "readers_full")
        case .closedAfterFailure: (503, "closed_after_failure")
        case .inCluster: (503, "in_cluster")
        case .closed: (503, "closed")
        case .otherHistory: (409, "other_history")
        case .filesChanged: (503, "files_changed")
        case .damaged, .brokenPage: (500, "damaged")
        case .notWritable: (500, "not_writable")
        case .noStore, .notAStore, .newerFormat, .unreachable, .linkedFile, .networkFileSystem, .truncated,
            .processNumberTaken:
            (500, "store_unusable")
        case .system: (500, "system")
        }
    }
}

extension APIError {
    /// Finds the reason why the past cannot be asked of the moment in `place`.
    package init(_ error: MomentError, _ place: String) {
        switch error {
        case .beyondLog:
            self = .invalidHere(
                place, error.reason,
                remedy: "\(error.remedy) A number is a position; a day is written as in 2026-01-31.")
        case .beforeUser:
            self.init(error)
            self.place = place
        case .versionOfAll: self = .invalid(place, error.reason, remedy: error.remedy)
        case .beyondLaunches(count: 0):
            self = .invalidHere(
                place, error.reason, remedy: "Start the app once with `POST /v1/devices/{device}/launch`.")
        case .beyondNow, .beyondUser, .beyondLaunches:
            self = .invalidHere(place, error.reason, remedy: error.remedy)
        }
    }

    /// As ``init(_:_:)``, of a moment that no field gives.
    private init(_ error: MomentError) {
        let isOfUser = if case .beforeUser = error { true } else { false }
        self.init(
            status: isOfUser ? 404 : 400, code: isOfUser ? "unknown_user" : "invalid", error: error.description,
            remedy: error.commandRemedy)
        isOfStore = !isOfUser && error != .versionOfAll
    }

    /// Runs `body`, with a moment that it cannot resolve as an error of `place`.
    package static func resolving<Result>(_ place: String, _ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as MomentError {
            throw APIError(error, place)
        }
    }
}

/// A name that nothing has.
extension APIError {
    /// Status 404: no event of the user changes the attribute `name`; `fields` are those that have a value.
    package static func unknownField(_ name: String, among fields: [String]) -> APIError {
        let nearest = NearestNames(to: name, among: fields)
        let names = nearest.all.prefix(10).joined(separator: ", ")
        let guess = nearest.close.first.map { "Did you mean \($0)? " } ?? ""
        return APIError(
            status: 404, code: "unknown_field", error: "No event of the user changes `\(name.shown)`.",
            remedy: guess + (fields.isEmpty ? "Their profile has no attributes." : "Their profile has \(names)."),
            place: "field")
    }

    /// Status 404: no user is known by `id`.
    package static func unknownUser(_ id: UserID) -> APIError {
        var apiError = APIError(.unknownUser(id))
        let kind =
            switch id {
            case .email: "e-mail address"
            case .phone: "phone number"
            default: ""
            }
        guard !kind.isEmpty else {
            apiError.error = "No user is known as \(id.description.shown)."
            return apiError
        }
        apiError.error = "No user has this \(kind)."
        apiError.remedy = "Name the user by external ID; `GET /v1/users` lists all of them."
        return apiError
    }

    /// Status 404: the user who had `id` was merged into another, who does not have it.
    package static func mergedUser(_ id: UserID, into target: UserID, at position: Position) -> APIError {
        var apiError = APIError(.unknownUser(id))
        let target = target.description.shown
        apiError.error = "\(id.description.shown) was merged into \(target) at position \(position.rawValue)."
        apiError.remedy = "Ask for \(target), or for a moment before the merge."
        return apiError
    }

    /// Status 400: there is no user attribute called `name`.
    package static func unknownAttribute(_ name: String) -> APIError {
        let nearest = NearestNames(to: name, among: StandardAttribute.allCases.map(\.name))
        return APIError(
            status: 400, code: "invalid", error: "`\(name.shown)` is no user attribute.",
            remedy: nearest.remedy("Make it a custom attribute, or use one of"), place: "attribute")
    }
}
