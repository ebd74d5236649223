internal import ProfileLogMessaging
internal import ProfileLogRequests

/// The REST API of Braze, as its clients speak it, on one store. docs/braze-compatibility.md tells what is the same.
package final class BrazeAPI: Dialect {
    let store: RequestStore
    /// Settings that requests do not carry.
    let workspace: Workspace
    let catalogue: LiveState<CatalogueProjection>
    /// The users with push tokens: for imports and look-ups by a device only, so that nothing is folded before the
    /// first.
    let pushTokens: LiveState<PushTokenProjection>
    let exports = ExportFiles()
    let schedules: Schedules
    let rates = SendRates()

    var log: EventLog { store.log }

    package init(_ store: RequestStore, _ workspace: Workspace = Workspace()) {
        self.store = store
        self.workspace = workspace
        store.traits = workspace.traits
        store.segments = workspace.segments
        catalogue = store.catalogue
        pushTokens = LiveState(store.log)
        schedules = Schedules(store.log)
    }

    /// Removes the files that exports made, at the end of a program. The files of a program that is killed are removed
    /// by the next one.
    package func removeExports() { exports.clear() }

    /// Removes the files that exports made a long time ago.
    package func removeOldExports() { exports.removeOld() }

    /// Removes the files in which a person is who was erased since.
    package func removeOutdatedExports() { exports.removeOutdated(log) }

    /// Sends the scheduled requests whose time has come, by the clock of the store, and returns how many.
    @discardableResult
    package func sendDue() async throws -> Int { try await DueSends(api: self).send() }

    /// Returns the time at which the next scheduled request is due; nil if none waits.
    package func nextDue() throws -> Timestamp? { try schedules.current().waiting.values.map(\.time).min() }

    private var tracks: TrackEndpoints { TrackEndpoints(api: self) }
    private var identity: IdentityEndpoints { IdentityEndpoints(store: store, onErasure: removeOutdatedExports) }
    private var subscriptions: SubscriptionEndpoints { SubscriptionEndpoints(api: self) }
    private var export: ExportEndpoints { ExportEndpoints(api: self) }
    private var sends: SendEndpoints { SendEndpoints(api: self) }
    private var numbers: NumberEndpoints { NumberEndpoints(api: self) }
    private var scheduled: ScheduleEndpoints { ScheduleEndpoints(api: self) }
    private var names: CatalogueEndpoints { CatalogueEndpoints(api: self) }

    package static let format = APIFormat.braze
    package static let root = "/"

    /// The platform's name for it: mostly the path with dots.
    package static func permission(_ method: APIRequest.Method, _ path: String) -> String {
        path.split(separator: "/").joined(separator: ".")
    }

    package static let handlers =
        others + schedules(.messages, "/messages", "messages", messages)
        + schedules(.campaign, "/campaigns/trigger", "a campaign", campaign)
        + schedules(.canvas, "/canvas/trigger", "a canvas", canvas)

    private static let others: [EndpointHandler<BrazeAPI>] = [
        .init(
            .post, "/users/alias/new", "give users aliases", lists("user_aliases"), answers: IdentityEndpoints.processed
        ) {
            try await $0.identity.addAliases($1)
        },
        .init(
            .post, "/users/alias/update", "rename aliases", lists("alias_updates"), answers: IdentityEndpoints.processed
        ) {
            try await $0.identity.renameAliases($1)
        },
        .init(
            .post, "/users/identify", "give users without an external ID one",
            lists("aliases_to_identify", "emails_to_identify", "phone_numbers_to_identify") + [.init("merge_behavior")],
            answers: IdentityEndpoints.processed
        ) { try await $0.identity.identifyUsers($1) },
        .init(
            .post, "/users/merge", "make two users one", [.required("merge_updates", .array)],
            answers: IdentityEndpoints.merged
        ) {
            try await $0.identity.mergeUsers($1)
        },
        .init(
            .post, "/users/external_ids/rename", "give users other external IDs",
            [.required("external_id_renames", .array)], answers: IdentityEndpoints.renamed
        ) { try await $0.identity.renameExternalIDs($1) },
        .init(
            .post, "/users/external_ids/remove", "forget external IDs that were renamed",
            [.required("external_ids", .array)], answers: IdentityEndpoints.removed
        ) { try await $0.identity.removeExternalIDs($1) },
        .init(
            .post, "/users/delete", "erase users",
            lists("external_ids", "user_aliases", "braze_ids", "email_addresses", "phone_numbers"),
            answers: IdentityEndpoints.deleted
        ) { try await $0.identity.deleteUsers($1) },
        .init(
            .post, "/users/track", "store attributes, events and purchases of users", track, [.isBrief],
            answers: TrackAnswer.shape
        ) {
            try await $0.tracks.track($1, isBulk: false)
        },
        .init(
            .post, "/users/track/sync", "store one of them, and see the profile afterwards", track,
            answers: TrackEndpoints.synced
        ) {
            try await $0.tracks.trackInSync($1)
        },
        .init(
            .post, "/users/export/ids", "profiles by their identifiers",
            lists("external_ids", "user_aliases") + [
                .init("braze_id"), .init("device_id"), .init("email_address"), .init("phone"),
                .init("fields_to_export", .array),
            ], [.isRead, .takesNoIdempotencyKey], answers: ExportEndpoints.users
        ) { try $0.export.exportUsers($1) },
        .init(.get, "/events/list", "names of custom events, 250 a page", [.page], answers: CatalogueEndpoints.events) {
            try $0.names.eventNames($1)
        },
        .init(
            .get, "/events", "custom events, 50 a page", [.init("cursor")], [.permission("events.get")],
            answers: CatalogueEndpoints.eventPage
        ) { try $0.names.customEvents($1) },
        .init(
            .get, "/custom_attributes", "custom attributes with their types, 50 a page", [.init("cursor")],
            [.permission("custom_attributes.get")], answers: CatalogueEndpoints.attributePage
        ) {
            try $0.names.customAttributes($1)
        },
        .init(
            .get, "/purchases/product_list", "IDs of products, 250 a page", [.page],
            answers: CatalogueEndpoints.products
        ) { try $0.names.productIDs($1) },
        numbers("/events/data_series", "how often a custom event happened", "count", [.required("event")] + series) {
            .events(try $1.event())
        },
        numbers("/sessions/data_series", "sessions", "sessions") { _, _ in .sessions },
        numbers("/purchases/quantity_series", "how many products were bought", "purchase_quantity", product) {
            .quantity(try $1.product())
        },
        numbers("/purchases/revenue_series", "what was paid for products", "revenue", product) {
            .revenue(try $1.product())
        },
        numbers("/kpi/dau/data_series", "users of the app by day", "dau") { _, _ in .dailyUsers },
        numbers("/kpi/mau/data_series", "users of the app in the 30 days before", "mau") { _, _ in .monthlyUsers },
        numbers("/kpi/new_users/data_series", "new users", "new_users") { _, _ in .newUsers },
        numbers("/kpi/uninstalls/data_series", "removals of the app from simulated devices", "uninstalls") {
            _, _ in .uninstalls
        },
        numbers(
            "/segments/data_series", "how many users a segment had", "size",
            [.required("segment_id")] + EndpointInput.series(needsLength: true)
        ) { .size(try $0.segment(&$1).rule) },
        .init(
            .get, "/segments/list", "segments of the workspace file, 100 a page", [.page, .init("sort_direction")],
            answers: NumberEndpoints.segments
        ) {
            try $0.numbers.segments($1)
        },
        .init(.get, "/segments/details", "one segment", [.required("segment_id")], answers: NumberEndpoints.segment) {
            try $0.numbers.segmentDetails($1)
        },
        .init(
            .post, "/users/track/bulk", "store up to 1,000 attributes, events and purchases", track,
            answers: TrackAnswer.shape
        ) {
            try await $0.tracks.track($1, isBulk: true)
        },
        .init(
            .post, "/subscription/status/set", "set a subscription group for users",
            [.required("subscription_group_id"), .required("subscription_state")]
                + ["external_id", "email", "phone"].map { EndpointInput($0, .any) },
            answers: SubscriptionEndpoints.wasSet
        ) { try await $0.subscriptions.set($1, isVersion2: false) },
        .init(
            .post, "/v2/subscription/status/set", "set several subscription groups for users",
            [.required("subscription_groups", .array)], [.permission("subscription.status.set")],
            answers: SubscriptionEndpoints.wasSet
        ) { try await $0.subscriptions.set($1, isVersion2: true) },
        .init(
            .get, "/subscription/status/get", "states of users in one subscription group",
            [.required("subscription_group_id")] + people, answers: SubscriptionEndpoints.status
        ) { try $0.subscriptions.subscriptionStatus($1) },
        .init(
            .get, "/subscription/user/status", "users with their subscription groups",
            people + [.usersPerPage, .offset], [.permission("subscription.groups.get")],
            answers: SubscriptionEndpoints.ofUsers
        ) { try $0.subscriptions.subscriptionsOfUsers($1) },
        .init(
            .post, "/users/export/segment", "profiles of a segment, as a file",
            [
                .required("segment_id"), .required("fields_to_export", .array),
                .init("custom_attributes_to_export", .array), .init("output_format"), .init("callback_endpoint"),
            ], [.takesNoIdempotencyKey, .isOfNode], answers: ExportEndpoints.segment
        ) { try await $0.export.exportSegment($1) },
        .init(
            .post, "/messages/send", "send messages to users, a segment or an audience",
            messages, answers: SendEndpoints.sent
        ) { try await $0.sends.send($1, .messages) },
        .init(
            .post, "/campaigns/trigger/send", "send a campaign of the workspace file", campaign,
            answers: SendEndpoints.sent
        ) { try await $0.sends.send($1, .campaign) },
        .init(
            .post, "/canvas/trigger/send", "send the first message step of a canvas of the workspace file",
            canvas, answers: SendEndpoints.sent
        ) { try await $0.sends.send($1, .canvas) },
        .init(
            .post, "/transactional/v1/campaigns/{campaign_id}/send",
            "send a campaign to one user, once for each ID",
            [.init("external_send_id"), .init("trigger_properties", .object), .required("recipient", .object)],
            [.permission("transactional.send")], answers: SendEndpoints.transactional
        ) { try await $0.sends.sendTransactional($1) },
        .init(
            .post, "/sends/id/create", "an ID for the sends of a campaign",
            [.required("campaign_id"), .init("send_id")], [.takesNoIdempotencyKey], answers: SendEndpoints.sendID
        ) { try $0.sends.createSendID($1) },
        .init(
            .get, "/exports/{file}", "the file of an export", [],
            [.needsNoKey, .answers(["application/zip", "application/gzip"])], answers: .any
        ) { try $0.export.exportedFile($1) },
        .init(
            .get, "/messages/scheduled_broadcasts", "scheduled sends to all who match", [.required("end_time")],
            [.permission("messages.schedule_broadcasts")], answers: ScheduleEndpoints.listed
        ) { try $0.scheduled.broadcasts($1) },
    ]

    private static let series: [EndpointInput] =
        EndpointInput.series(needsLength: true) + [.init("app_id"), .init("segment_id")]

    private static let product = [EndpointInput("product")] + series

    /// Numbers by day or hour: `measure`, under the member `key` of each point.
    private static func numbers(
        _ path: String, _ summary: String, _ key: String, _ inputs: [EndpointInput] = series,
        _ measure: @escaping @Sendable (NumberEndpoints, inout Query) throws -> SeriesMeasure
    ) -> EndpointHandler<BrazeAPI> {
        .init(.get, path, summary, inputs, answers: NumberEndpoints.series(key)) {
            try await $0.numbers.series($1, key, measure)
        }
    }

    /// Creating, changing and deleting schedules of one form. `inputs` are those of the form that sends at once.
    private static func schedules(
        _ form: SendForm, _ path: String, _ what: String, _ inputs: [EndpointInput]
    ) -> [EndpointHandler<BrazeAPI>] {
        let schedule = EndpointInput("schedule", .object)
        let named =
            [EndpointInput.required("schedule_id")] + (form == .messages ? [] : [.required(form.idKey.text)])
        return [
            .init(
                .post, path + "/schedule/create", "send \(what) at a later time",
                inputs + [.required("schedule", .object)], answers: SendEndpoints.scheduled
            ) { try await $0.scheduled.create($1, form) },
            .init(
                .post, path + "/schedule/update", "change when \(what) will be sent",
                named + [schedule] + (form == .messages ? [.init("messages", .object)] : []), answers: .success
            ) { try await $0.scheduled.update($1, form) },
            .init(.post, path + "/schedule/delete", "do not send \(what) after all", named, answers: .success) {
                try await $0.scheduled.delete($1, form)
            },
        ]
    }

    private static let messages =
        lists("external_user_ids", "user_aliases") + [
            .init("segment_id"), .init("audience", .object), .init("broadcast", .boolean), .init("campaign_id"),
            .init("send_id"), .init("override_frequency_capping", .boolean), .init("recipient_subscription_state"),
            .required("messages", .object),
        ]
    private static let campaign = [.required("campaign_id"), .init("trigger_properties", .object)] + sending
    private static let canvas =
        [.required("canvas_id"), .init("canvas_entry_properties", .object), .init("context", .object)] + sending

    private static let sending: [EndpointInput] = [
        .init("send_id"), .init("broadcast", .boolean), .init("audience", .object), .init("recipients", .array),
    ]

    private static let track = lists("attributes", "events", "purchases")

    /// The users that a request is about: each may be given several times, with `[]` or without.
    private static let people = ["external_id", "email", "phone"].flatMap { lists($0, $0 + "[]") }

    private static func lists(_ names: String...) -> [EndpointInput] { names.map { EndpointInput($0, .array) } }
}

/// Query parameters that GET endpoints in Braze's format share.
extension EndpointInput {
    private static let most = UInt64(Int32.max)

    /// The number of a page.
    static let page = EndpointInput("page", .integer, limits: 0...most, standard: 0)
    /// The number of users in one answer.
    static let usersPerPage = EndpointInput("limit", .integer, limits: 1...100, standard: 100)
    /// The number of users skipped before the first one.
    static let offset = EndpointInput("offset", .integer, limits: 0...most, standard: 0)
}
