internal import ProfileLogRequests

/// A path of the service itself, for GET.
enum OwnPath: String, CaseIterable, Sendable {
    case overview = "/"
    case openAPI = "/openapi.json"
    case metrics = "/metrics"
    case health = "/health"
    case live = "/health/live"
    case ready = "/health/ready"

    var summary: String {
        switch self {
        case .overview: "what is where"
        case .openAPI: "this description, for programs (OpenAPI 3.1)"
        case .metrics: "numbers for Prometheus"
        case .health: "whether the store can be read and written"
        case .ready: "whether the store can be read and written, and a node has caught up with its cluster"
        case .live: "whether the process answers"
        }
    }

    /// The permission that a key needs; nil for what tells nothing of the store.
    var permission: String? { self == .metrics ? "metrics" : nil }

    /// Tells whether the port for operators has it.
    var isForOperators: Bool {
        switch self {
        case .metrics, .health, .live, .ready: true
        case .overview, .openAPI: false
        }
    }

    /// The paths of the main port: `/metrics` is on the port for operators alone, if there is one.
    static func main(hasAdminPort: Bool) -> [OwnPath] { allCases.filter { $0 != .metrics || !hasAdminPort } }
}

/// The endpoint of a request, by its method and path.
enum Route {
    case own(OwnPath)
    case console(ConsolePath)
    case endpoint(Endpoint)
    case otherMethodOfOwn(OwnPath)
    case otherMethodOfConsole
    case otherMethod(template: String)
    case options(methods: String, template: String)
    case unknown

    init(method: String, path: String) {
        // HEAD asks for the headers that GET would have.
        let asked = method == "HEAD" ? "GET" : method
        if let own = OwnPath(rawValue: path) {
            self = asked == "GET" ? .own(own) : .otherMethodOfOwn(own)
            if asked == "OPTIONS" { self = .options(methods: "GET", template: own.rawValue) }
        } else if let console = ConsolePath(path) {
            self = asked == "GET" ? .console(console) : .otherMethodOfConsole
            if asked == "OPTIONS" { self = .options(methods: "GET", template: ConsolePath.template) }
        } else if let method = APIRequest.Method(rawValue: asked), let endpoint = API.table.endpoint(method, path) {
            self = .endpoint(endpoint)
        } else if let template = API.table.template(of: path) {
            self = .otherMethod(template: template)
            if asked == "OPTIONS" {
                self = .options(methods: API.table.methods(at: template), template: template)
            }
        } else {
            self = .unknown
        }
    }

    /// Tells whether a request is answered in microseconds, but for its commit, unless its body makes it a long one.
    var isBrief: Bool {
        switch self {
        case .endpoint(let endpoint): endpoint.isBrief
        case .own(let own): own == .live
        case .console, .otherMethodOfOwn, .otherMethodOfConsole, .otherMethod, .options, .unknown: false
        }
    }

    /// The methods of the path, if it is asked for them.
    var methods: String? {
        if case .options(let methods, _) = self { methods } else { nil }
    }

    /// The path without what people put into it, for logs and metrics.
    var template: String {
        switch self {
        case .own(let own), .otherMethodOfOwn(let own): own.rawValue
        case .console, .otherMethodOfConsole: ConsolePath.template
        case .endpoint(let endpoint): endpoint.path
        case .otherMethod(let template), .options(_, let template): template
        case .unknown: "unknown"
        }
    }

    /// `path` for the log: its template, or of an unknown one the parts that can be words, and hold nothing about a
    /// person.
    func logged(_ path: String) -> String {
        guard case .unknown = self else { return template }
        let parts = path.split(separator: "/", maxSplits: 7, omittingEmptySubsequences: false)
        return parts.map { Self.isWord($0) ? String($0) : "…" }.joined(separator: "/")
    }

    /// Tells whether it may be a misspelt word of a path. IDs have other bytes, or more digits.
    private static func isWord(_ part: Substring) -> Bool {
        var digits = 0
        for byte in part.utf8 {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digits += 1
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"),
                UInt8(ascii: "-"), UInt8(ascii: "."):
                break
            default: return false
            }
        }
        return part.utf8.count <= 32 && digits <= 2
    }
}
