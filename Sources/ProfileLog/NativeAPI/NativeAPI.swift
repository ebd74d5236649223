internal import ProfileLogRequests

/// The native API on one store; docs/api.md describes it.
package struct NativeAPI: Dialect {
    let store: RequestStore
    let ephemeral: (any EphemeralStore)?
    /// The cluster of the store; nil for a store that one service has alone.
    let cluster: (any ClusterView)?
    /// Makes copies for nodes that join; nil where that is not possible.
    let copying: (any StoreCopying)?
    /// Called after a person was erased.
    let onErasure: @Sendable () -> Void
    /// Called after the store's time was set.
    let onTimeSet: @Sendable () async -> Void

    private let exportVoids = VoidsAsOf()

    /// Makes the API of a store; with `ephemeral`, it may be emptied and its time set, and with `cluster`, other
    /// services have it too.
    package init(
        _ store: RequestStore, ephemeral: (any EphemeralStore)? = nil, cluster: (any ClusterView)? = nil,
        copying: (any StoreCopying)? = nil,
        onErasure: @escaping @Sendable () -> Void = {}, onTimeSet: @escaping @Sendable () async -> Void = {}
    ) {
        self.store = store
        self.ephemeral = ephemeral
        self.cluster = cluster
        self.copying = copying
        self.onErasure = onErasure
        self.onTimeSet = onTimeSet
    }

    private var writes: WriteEndpoints { WriteEndpoints(store: store) }
    private var devices: DeviceEndpoints { DeviceEndpoints(store: store) }
    private var inApp: InAppEndpoints { InAppEndpoints(store: store) }
    private var pushes: PushEndpoints { PushEndpoints(store: store) }
    private var pending: PendingEndpoints { PendingEndpoints(store: store) }
    private var sends: SendEndpoints { SendEndpoints(store: store) }
    private var whole: StoreEndpoints { StoreEndpoints(store: store) }
    private var erasure: EraseEndpoints { EraseEndpoints(store: store, onErasure: onErasure) }
    private var testStore: TestStoreEndpoints {
        TestStoreEndpoints(store: store, ephemeral: ephemeral, onTimeSet: onTimeSet)
    }

    package static let format = APIFormat.native
    package static let root = "/v1/"

    package static func permission(_ method: APIRequest.Method, _ path: String) -> String {
        method == .get ? "v1.read" : "v1.write"
    }

    package static let handlers =
        WriteKind.all.map { kind in
            EndpointHandler<NativeAPI>(
                .post, "/v1/\(kind.name)", kind.summary, kind.inputs, check: checking(kind),
                answers: kind.isSaved ? WriteEndpoints.saved : WriteEndpoints.logged
            ) {
                try await $0.writes.write(kind, $1)
            }
        } + others

    private static let others: [EndpointHandler<NativeAPI>] = [
        .init(
            .post, "/v1/batch", "save and log many things at once, with a result for each",
            [.required("items", .array), .init("atomic", .boolean), .init("key")], answers: BatchEndpoint.shape
        ) { try await BatchEndpoint(writes: $0.writes).batch($1) },
        .init(
            .post, "/v1/import", "lines of an import, which a repeated request skips", ImportEndpoint.inputs,
            answers: ImportEndpoint.shape
        ) {
            try await ImportEndpoint(store: $0.store).answer($1)
        },
        .init(
            .post, "/v1/launch", "start the app on a device, which flushes what waits there",
            launch + [.init("device")], answers: DeviceEndpoints.launched
        ) { try await $0.devices.launch($1) },
        .init(
            .post, "/v1/change-user", "put another user on a device", [.required("user"), time, .init("device")],
            answers: DeviceEndpoints.changedUser
        ) { try await $0.devices.changeUser($1) },
        .init(
            .post, "/v1/tags", "an event of the app goes through a container of the tag manager", TagEndpoint.inputs,
            answers: TagEndpoint.shape
        ) { try await TagEndpoint(writes: $0.writes).tag($1) },
        look(
            "/v1/devices", "all devices, with who is on them and how they are set up",
            [.init("after"), limit, asOf, order],
            answers: DeviceEndpoints.list
        ) {
            try $0.devices.devices($2, $1)
        },
        look("/v1/devices/{device}", "one device", [asOf, order], answers: DeviceEndpoints.one) {
            try $0.devices.device($2, $1)
        },
        .init(
            .post, "/v1/devices/{device}/launch", "start the app there", launch,
            check: checking { _ = try DeviceEndpoints.order($0, DeviceStorage.defaultDevice) },
            answers: DeviceEndpoints.launched
        ) { try await $0.devices.launch($1) },
        .init(
            .post, "/v1/devices/{device}/leave", "the app leaves the foreground", [time], answers: DeviceEndpoints.left
        ) {
            try await $0.devices.leave($1)
        },
        .init(
            .post, "/v1/devices/{device}/send", "the SDK sends what it has taken",
            [.init("requested", .boolean), time], answers: DeviceEndpoints.sent
        ) { try await $0.devices.send($1) },
        .init(
            .post, "/v1/devices/{device}/settings", "set up network, SDK, sessions, app groups and push",
            [
                time, .init("online", .boolean), .init("sdk_enabled", .boolean), .init("request_policy"),
                .init("flush_interval_s", .integer), .init("session_timeout_s", .integer),
                .init("without_app_groups", .array), .init("with_app_groups", .array), .init("messages", .object),
            ] + PushSettingsFields.inputs, check: checking { _ = try DeviceEndpoints.settingsChange($0) },
            answers: DeviceEndpoints.changedSettings
        ) { try await $0.devices.changeSettings($1) },
        look(
            "/v1/devices/{device}/pushes", "pushes on their way to the device, on its screen, and captured",
            [asOf, order], answers: PushEndpoints.pushes
        ) {
            try $0.pushes.pushes($2, $1)
        },
        .init(
            .post, "/v1/devices/{device}/push", "what happens to the device's pushes", PushEndpoints.inputs,
            check: checking { _ = try PushEndpoints.intent($0) }, answers: PushEndpoints.acted
        ) { try await $0.pushes.push($1) },
        .init(
            .post, "/v1/devices/{device}/log-out", "the user leaves, and the SDK is disabled", [time],
            answers: DeviceEndpoints.forgotten
        ) {
            try await $0.devices.forget($1) { try $0.logOut(device: $1, context: $2) }
        },
        .init(
            .post, "/v1/devices/{device}/wipe", "the SDK forgets who was there and what it has not sent", [time],
            answers: DeviceEndpoints.forgotten
        ) { try await $0.devices.forget($1) { try $0.wipe(device: $1, context: $2) } },
        .init(
            .post, "/v1/devices/{device}/remove", "the app is removed, with what waits; the next launch reinstalls it",
            [time], answers: DeviceEndpoints.removed
        ) { try await $0.devices.removeApp($1) },
        .init(
            .post, "/v1/devices/{device}/change-user", "put another user on the device", [.required("user"), time],
            answers: DeviceEndpoints.changedUser
        ) { try await $0.devices.changeUser($1) },
        .init(
            .post, "/v1/messages", "declare the in-app messages that devices get from their next session on",
            [.required("messages", .array)],
            check: checking { _ = try InAppEndpoints.definitions($0.value("messages") ?? .null) },
            answers: InAppEndpoints.declared
        ) { try await $0.inApp.declare($1) },
        look("/v1/messages", "the declared in-app messages", [], answers: InAppEndpoints.declarations) {
            try $0.inApp.declared($2, $1)
        },
        look(
            "/v1/devices/{device}/messages", "the in-app messages of a device: eligible, waiting, on the screen",
            [asOf, order], answers: InAppEndpoints.messages
        ) {
            try $0.inApp.messages($2, $1)
        },
        .init(
            .post, "/v1/devices/{device}/messages", "the app or the user does something with in-app messages",
            InAppEndpoints.actionInputs, check: checking { _ = try InAppEndpoints.action($0) },
            answers: InAppEndpoints.action
        ) { try await $0.inApp.act($1) },
        look(
            "/v1/pending", "what waits for a launch or to be sent, by device and storage",
            [.init("device"), user, .init("storage"), limit, asOf, order], answers: PendingEndpoints.pendingItems
        ) { try $0.pending.pending($2, $1) },
        .init(
            .post, "/v1/pending/discard", "give up what waits, with a reason",
            [.required("reason"), .init("device"), .init("actor"), .init("storage"), .init("positions", .array)],
            answers: PendingEndpoints.discarded
        ) { try await $0.pending.discard($1) },
        .init(
            .post, "/v1/pending/retry", "save a rejected item once more, corrected or as it is",
            [
                .required("position", .integer), .init("name"), .init("properties", .object),
                .init("attributes", .object), .init("_merge_objects", .boolean), .init("attribute"),
                .init("value", .any),
            ], answers: PendingEndpoints.retried
        ) { try await $0.pending.retry($1) },
        look(
            "/v1/rejected", "what was refused, by the SDK or of a request, with the reason",
            page + [user, .init("repaired", .boolean)], answers: PendingEndpoints.rejections
        ) { try $0.pending.rejected($2, $1) },
        look(
            "/v1/profile", "a user's profile, now or at any past position or time",
            [
                .required("user"), asOf, order, .init("at_launch", .integer), .init("include_pending", .boolean),
            ], answers: ProfileEndpoint.shape
        ) { try ProfileEndpoint(log: $1).profile($2) },
        look(
            "/v1/traits", "the computed traits, and their values for a user", [user, asOf, order],
            answers: TraitEndpoint.shape
        ) {
            try TraitEndpoint(log: $1).traits($2)
        },
        look(
            "/v1/diff", "what differs between two moments, of one user or of all",
            [.required("a"), .init("b"), user, order, .init("after", .integer), limit], answers: DiffEndpoint.shape
        ) { try DiffEndpoint(log: $1).diff($2) },
        look(
            "/v1/history", "one user's events",
            filter + [
                .required("user"), .init("from", .integer), .init("to", .integer), .init("reverse", .boolean),
                .init("launch", .integer), .init("merged", .boolean), .init("after", .integer), limit, .init("parts"),
            ], answers: HistoryEndpoints.history
        ) { try HistoryEndpoints(log: $1).history($2) },
        read(
            "/v1/events", "the whole log, with a wait for news",
            filter + [.init("after"), limit, user, .init("reverse", .boolean), .init("wait_s", .integer)],
            [.answers(["application/json", Endpoint.eventStream])], answers: HistoryEndpoints.events
        ) {
            try await HistoryEndpoints.events($1, $0.store.log)
        },
        look(
            "/v1/sends", "messages that were sent, or not and why", page + [user, .init("message")],
            answers: SendEndpoints.list
        ) {
            try $0.sends.sends($2, $1)
        },
        .init(
            .post, "/v1/channels", "let a channel fail for a test, or work again",
            [.required("channel"), .init("fails", .boolean)], [.isOfNode], answers: SendEndpoints.failing
        ) { try $0.sends.setChannel($1) },
        look(
            "/v1/messages/explain", "the chain of events that led to a message's fate",
            [.required("user"), .init("message"), .init("position", .integer)], answers: MessageEndpoints.explanation
        ) { try MessageEndpoints(log: $1).explain($2) },
        read(
            "/v1/users", "all users, those who pass a condition, now or at any past moment, or those known by an ID",
            page + [
                .init("where"), .init("count", .boolean), asOf, order, .init("prefix"), .init("reverse", .boolean),
                .init("cursor"),
            ], answers: UserSearch.shape
        ) { try await $0.whole.users($1) },
        look(
            "/v1/users/explain", "why a user passes a condition or a segment, or does not: each part, and what set it",
            UserExplanation.inputs, answers: UserExplanation.shape
        ) { try UserExplanation(log: $1, segments: $0.store.segments).explain($2) },
        read(
            "/v1/series", "numbers by day, hour or minute",
            [.required("of")] + EndpointInput.series(needsLength: false) + [.init("where")],
            answers: SeriesEndpoint.shape
        ) { try await SeriesEndpoint(store: $0.store).series($1) },
        read(
            "/v1/export", "events or profiles of one moment, in pages or as JSON Lines or CSV", ExportEndpoint.inputs,
            [.answers(["application/json", "application/jsonl", "text/csv"])], answers: ExportEndpoint.shape
        ) {
            try await ExportEndpoint(store: $0.store, voids: $0.exportVoids).export($1)
        },
        .init(
            .post, "/v1/void", "an event is void: folds skip it from now on", VoidEndpoints.inputs,
            answers: VoidEndpoints.shape
        ) {
            try await VoidEndpoints(store: $0.store).answer($1, isVoid: true)
        },
        .init(.post, "/v1/unvoid", "a void event counts again", VoidEndpoints.inputs, answers: VoidEndpoints.shape) {
            try await VoidEndpoints(store: $0.store).answer($1, isVoid: false)
        },
        .init(
            .post, "/v1/rules", "set which update of an attribute wins, for the events from now on",
            RulesEndpoints.inputs, answers: RulesEndpoints.shape
        ) { try await RulesEndpoints(store: $0.store).set($1) },
        look(
            "/v1/rules", "which update of an attribute wins, now or as of an earlier moment", [asOf, order],
            answers: RulesEndpoints.shape
        ) {
            try RulesEndpoints(store: $0.store).rules($2, $1)
        },
        look(
            "/v1/blame", "which event set each attribute of a user and raised each count, and what was before",
            BlameEndpoint.inputs, answers: BlameEndpoint.shape
        ) {
            try BlameEndpoint(log: $1).blame($2)
        },
        read(
            "/v1/replay", "the shadow: states that a replay writes next to those that are read", [],
            answers: ReplayEndpoints.reported
        ) {
            try ReplayEndpoints(store: $0.store).report($1)
        },
        .init(
            .post, "/v1/replay", "fold the stored states again, for some seconds, next to those that are read",
            ReplayEndpoints.inputs, [.isOfNode], answers: ReplayEndpoints.folded
        ) { try await ReplayEndpoints(store: $0.store).fold($1) },
        .init(
            .post, "/v1/replay/swap", "make the shadow's states the live ones", ReplayEndpoints.swapInputs,
            [.isOfNode], answers: ReplayEndpoints.swapped
        ) {
            try await ReplayEndpoints(store: $0.store).swap($1)
        },
        .init(
            .post, "/v1/replay/discard", "give the shadow up", ReplayEndpoints.discardInputs,
            [.isOfNode], answers: ReplayEndpoints.discarded
        ) {
            try await ReplayEndpoints(store: $0.store).discard($1)
        },
        .init(
            .post, "/v1/erase", "erase a person, with everything of theirs",
            EraseEndpoints.inputs, answers: EraseEndpoints.erased
        ) { try await $0.erasure.erase($1) },
        look(
            "/v1/erase", "who an erasure would be about", [.required("user")], answers: EraseEndpoints.listed
        ) { try $0.erasure.candidates($2, $1) },
        read(
            "/v1/whatif", "what the published snippets would have done",
            [
                "policy", "fault", "user", "device", "since", "until", "items", "language", "numbers", "save_ms",
                "quirk", "flush_ms", "crash_every", "crash_after", "unstored", "scenes", "update_every", "locked_every",
                "instance_missing_until", "sdk", "sdk_disabled", "blocklist", "stray",
            ].map { EndpointInput($0) }, answers: WhatIfEndpoint.shape
        ) { try WhatIfEndpoint(log: $0.store.log).whatIf($1) },
        read(
            "/v1/whatif/profiles", "which profiles would differ without some events, or with others",
            ProfileWhatIfEndpoint.inputs, answers: ProfileImpact.shape
        ) { try await ProfileWhatIfEndpoint(store: $0.store).answer($1) },
        look(
            "/v1/names", "names that begin with a text: of events, attributes, products, devices and messages",
            [.init("prefix"), .init("kind"), limit], answers: NameEndpoint.shape
        ) { try NameEndpoint(store: $0.store).names($2, $1) },
        .init(
            .get, "/v1/key", "what the key of this request may do, and on which store", [], [.takesAnyKey, .isOfNode],
            answers: KeyEndpoint.shape
        ) { try KeyEndpoint(store: $0.store, ephemeral: $0.ephemeral).key($1) },
        look("/v1/stats", "how much the store holds", [], answers: StoreEndpoints.statistics) {
            try $0.whole.stats($2, $1)
        },
        look("/v1/status", "how far the log, its caches and its audit reach", [], answers: StoreEndpoints.state) {
            try $0.whole.status($2, $1)
        },
        .init(
            .get, "/v1/cluster", "the nodes that serve this store, and how far each is", [], [.isOfNode],
            answers: ClusterEndpoints.shape
        ) { try ClusterEndpoints(cluster: $0.cluster).status($1) },
        .init(
            .get, "/v1/cluster/copy", "the whole store, for a node that joins the cluster", [],
            [.permission(ClusterEndpoints.permission), .isOfNode, .answers([CopyEndpoints.mediaType])], answers: .any
        ) { try CopyEndpoints(store: $0.store, copying: $0.copying).copy($1) },
        read(
            "/v1/cluster/digest", "hashes of this node's log, names and meta up to a position",
            CopyEndpoints.digestInputs, [.isOfNode], answers: CopyEndpoints.digested
        ) { api, request in
            try api.store.read { try CopyEndpoints.digest(request, $0) }
        },
        .init(
            .post, "/v1/cluster/rebuild", "make the stream of the brokers again from the store of this node",
            ClusterEndpoints.rebuildInputs, [.permission(ClusterEndpoints.permission), .isOfNode],
            answers: ClusterEndpoints.rebuilt
        ) { try await ClusterEndpoints(cluster: $0.cluster).rebuild($1) },
        .init(
            .post, "/v1/cluster/stream", "set how long the brokers of the cluster keep a batch",
            ClusterEndpoints.streamInputs, [.permission(ClusterEndpoints.permission), .isOfNode],
            answers: ClusterEndpoints.shape
        ) { try await ClusterEndpoints(cluster: $0.cluster).keep($1) },
        .init(
            .post, "/v1/reset", "empty a store for tests", [.init("fixtures", .boolean)], [.isOfNode],
            answers: TestStoreEndpoints.reset
        ) {
            try await $0.testStore.reset($1)
        },
        .init(
            .post, "/v1/clock", "set, advance or release the clock of a store for tests",
            [.init("set"), .init("advance", .any), .init("release", .boolean)], [.isOfNode],
            answers: TestStoreEndpoints.clock
        ) { try await $0.testStore.setClock($1) },
    ]

    /// A GET: its answer may wait until the log has reached a position.
    private static func read(
        _ path: String, _ summary: String, _ inputs: [EndpointInput], _ traits: [EndpointTrait] = [],
        answers shape: AnswerShape,
        _ answer: @escaping @Sendable (NativeAPI, APIRequest) async throws -> APIAnswer
    ) -> EndpointHandler<NativeAPI> {
        .init(
            .get, path, summary, inputs + [.init("wait_for"), .init("timeout", .integer)], traits, answers: shape
        ) { api, request in
            var request = request
            try await PositionWait(&request)?.wait(for: api.store.log)
            return try await answer(api, request)
        }
    }

    /// A GET whose answer is read from one view of the log.
    private static func look(
        _ path: String, _ summary: String, _ inputs: [EndpointInput], answers shape: AnswerShape,
        _ answer: @escaping @Sendable (NativeAPI, LogReader, APIRequest) throws -> APIAnswer
    ) -> EndpointHandler<NativeAPI> {
        read(path, summary, inputs, answers: shape) { api, request in
            try api.store.read { try answer(api, $0, request) }
        }
    }

    // MARK: - What several take

    private static let time = EndpointInput("time")
    private static let user = EndpointInput("user")
    private static let limit = EndpointInput("limit", .integer)
    private static let page = [EndpointInput("after", .integer), limit]
    private static let filter = ["kind", "name", "field", "device", "since", "before", "order"].map {
        EndpointInput($0)
    }
    private static let asOf = EndpointInput("as_of")
    private static let order = EndpointInput("order")
    private static let launch: [EndpointInput] = [.init("kind"), .init("only", .array), .init("die_after"), time]
}
