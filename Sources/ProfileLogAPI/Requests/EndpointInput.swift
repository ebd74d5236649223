/// A parameter of an endpoint's query, or a member of its body.
public struct EndpointInput: Hashable, Sendable {
    /// What it holds, in the words of JSON Schema.
    public enum Kind: String, Sendable {
        case string, integer, number, boolean, object, array
        /// Any JSON value.
        case any
    }

    /// Its name.
    public let name: String
    /// What it holds.
    public let kind: Kind
    /// Whether there must be one.
    public let isRequired: Bool
    /// The least and the largest value of a whole number; nil if it has other limits, or none.
    public let limits: ClosedRange<UInt64>?
    /// The whole number that counts without one.
    public let standard: UInt64?

    /// Makes one.
    public init(
        _ name: String, _ kind: Kind = .string, isRequired: Bool = false, limits: ClosedRange<UInt64>? = nil,
        standard: UInt64? = nil
    ) {
        self.name = name
        self.kind = kind
        self.isRequired = isRequired
        self.limits = limits
        self.standard = standard
    }
}

extension Endpoint {
    /// What the endpoint takes, in its query with GET and in its body with POST. Nil for most POSTs in Braze's format.
    ///
    /// Endpoints in Braze's format ignore what they do not know, those of the native API refuse it.
    public var inputs: [EndpointInput]? {
        guard let inputs = Self.declared["\(method.rawValue) \(path)"] else { return nil }
        return isNative && method == .get ? inputs + Self.wait : inputs
    }

    // MARK: - What several take

    private static let wait = [EndpointInput("wait_for", .integer), EndpointInput("timeout", .integer)]
    private static let time = EndpointInput("time")
    private static let user = EndpointInput("user")
    private static let limit = EndpointInput("limit", .integer)
    private static let page = [EndpointInput("after", .integer), limit]
    private static let filter = [
        EndpointInput("kind"), EndpointInput("name"), EndpointInput("since"), EndpointInput("before"),
    ]
    private static let write = [
        user, time, EndpointInput("device"), EndpointInput("process"), EndpointInput("key"),
        EndpointInput("expect", .any),
    ]
    private static let save =
        write + [
            EndpointInput("app_group"), EndpointInput("private", .boolean), EndpointInput("item"),
            EndpointInput("imported", .boolean),
        ]
    private static let log = write + [EndpointInput("source")]
    private static let event = [EndpointInput("name", isRequired: true), EndpointInput("properties", .object)]
    private static let attributes = [
        EndpointInput("attributes", .object, isRequired: true), EndpointInput("_merge_objects", .boolean),
    ]
    private static let userAttribute = [
        EndpointInput("attribute", isRequired: true), EndpointInput("value", .any, isRequired: true),
    ]
    private static let launch = [
        EndpointInput("kind"), EndpointInput("only", .array), EndpointInput("die_after"), time,
    ]

    // MARK: - By endpoint

    private static let declared: [String: [EndpointInput]] = writes.merging(devices) { $1 }.merging(reads) { $1 }
        .merging(others) { $1 }.merging(brazeReads) { $1 }.merging(brazeWrites) { $1 }

    private static let writes: [String: [EndpointInput]] = [
        "POST /v1/save/event": save + event,
        "POST /v1/save/attributes": save + attributes,
        "POST /v1/save/user-attribute": save + userAttribute,
        "POST /v1/log/event": log + event,
        "POST /v1/log/attributes": log + attributes,
        "POST /v1/log/user-attribute": log + userAttribute,
        "POST /v1/log/purchase": log + [
            EndpointInput("product", isRequired: true), EndpointInput("currency", isRequired: true),
            EndpointInput("price", .number, isRequired: true), EndpointInput("quantity", .integer),
            EndpointInput("properties", .object),
        ],
        "POST /v1/batch": [
            EndpointInput("items", .array, isRequired: true), EndpointInput("atomic", .boolean), EndpointInput("key"),
        ],
        "POST /v1/pending/discard": [
            EndpointInput("reason", isRequired: true), EndpointInput("device"), EndpointInput("actor"),
            EndpointInput("storage"), EndpointInput("positions", .array),
        ],
        "POST /v1/pending/retry": [
            EndpointInput("position", .integer, isRequired: true), EndpointInput("name"),
            EndpointInput("properties", .object), EndpointInput("attributes", .object),
            EndpointInput("_merge_objects", .boolean), EndpointInput("attribute"), EndpointInput("value", .any),
        ],
        "POST /v1/erase": [
            EndpointInput("user", isRequired: true), EndpointInput("reason", isRequired: true), EndpointInput("actor"),
        ],
        "POST /v1/reset": [EndpointInput("fixtures", .boolean)],
        "POST /v1/clock": [
            EndpointInput("set"), EndpointInput("advance", .any), EndpointInput("release", .boolean),
        ],
    ]

    private static let devices: [String: [EndpointInput]] = [
        "POST /v1/launch": launch + [EndpointInput("device")],
        "POST /v1/change-user": [EndpointInput("user", isRequired: true), time, EndpointInput("device")],
        "POST /v1/devices/{device}/launch": launch,
        "POST /v1/devices/{device}/leave": [time],
        "POST /v1/devices/{device}/send": [EndpointInput("requested", .boolean), time],
        "POST /v1/devices/{device}/settings": [
            time, EndpointInput("online", .boolean), EndpointInput("sdk_enabled", .boolean),
            EndpointInput("request_policy"), EndpointInput("flush_interval_s", .integer),
            EndpointInput("session_timeout_s", .integer), EndpointInput("without_app_groups", .array),
            EndpointInput("with_app_groups", .array),
        ],
        "POST /v1/devices/{device}/log-out": [time],
        "POST /v1/devices/{device}/wipe": [time],
        "POST /v1/devices/{device}/change-user": [EndpointInput("user", isRequired: true), time],
    ]

    private static let reads: [String: [EndpointInput]] = [
        "GET /v1/devices": [EndpointInput("after"), limit],
        "GET /v1/devices/{device}": [],
        "GET /v1/pending": [EndpointInput("device"), user, EndpointInput("storage"), limit],
        "GET /v1/rejected": page + [user, EndpointInput("repaired", .boolean)],
        "GET /v1/profile": [
            EndpointInput("user", isRequired: true), EndpointInput("as_of"), EndpointInput("include_pending", .boolean),
        ],
        "GET /v1/history": filter + [
            EndpointInput("user", isRequired: true), EndpointInput("from", .integer), EndpointInput("to", .integer),
            EndpointInput("reverse", .boolean), limit,
        ],
        "GET /v1/events": filter + page + [EndpointInput("wait_s", .integer)],
        "GET /v1/users": page,
        "GET /v1/stats": [],
        "GET /v1/whatif": [
            "policy", "fault", "user", "device", "since", "until", "items", "language", "numbers", "save_ms",
            "flush_ms",
            "crash_every", "crash_after", "unstored", "scenes", "update_every", "locked_every",
            "instance_missing_until",
            "sdk", "sdk_disabled", "blocklist", "stray",
        ].map { EndpointInput($0) },
    ]

    private static let others: [String: [EndpointInput]] = [
        "POST /users/track": ["attributes", "events", "purchases"].map { EndpointInput($0, .array) },
        "POST /users/track/sync": ["attributes", "events", "purchases"].map { EndpointInput($0, .array) },
        "POST /users/export/ids": [
            EndpointInput("external_ids", .array), EndpointInput("user_aliases", .array), EndpointInput("braze_id"),
            EndpointInput("device_id"), EndpointInput("email_address"), EndpointInput("phone"),
            EndpointInput("fields_to_export", .array),
        ],
    ]
}
