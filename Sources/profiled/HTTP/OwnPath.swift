/// A path of the service itself, which is no part of the API. All of them are asked with GET.
enum OwnPath: String, CaseIterable, Sendable {
    case overview = "/"
    case openAPI = "/openapi.json"
    case metrics = "/metrics"
    case health = "/health"
    case live = "/health/live"
    case ready = "/health/ready"

    /// What it is for, in a few words.
    var summary: String {
        switch self {
        case .overview: "what is where"
        case .openAPI: "this description, for programs (OpenAPI 3.1)"
        case .metrics: "numbers for Prometheus"
        case .health, .ready: "whether the store can be read and written"
        case .live: "whether the process answers"
        }
    }

    /// What a key must be allowed; nil if none is needed: health is asked by what starts services, and the rest tells nothing of the
    /// store.
    var permission: String? { self == .metrics ? "metrics" : nil }
}
