internal import ProfileLogAPI

/// What a request asks for, by its method and path.
enum Route {
    /// The service itself.
    case own(OwnPath)
    /// The API.
    case endpoint(Endpoint)
    /// A path that the API knows, with another method.
    case otherMethod(template: String)
    case unknown

    init(method: String, path: String) {
        if method == "GET", let own = OwnPath(rawValue: path) {
            self = .own(own)
        } else if let method = APIRequest.Method(rawValue: method), let endpoint = API.endpoint(method, path) {
            self = .endpoint(endpoint)
        } else if let template = API.template(of: path) {
            self = .otherMethod(template: template)
        } else {
            self = .unknown
        }
    }

    /// Whether a small body is answered in microseconds, beside its commit.
    var isBrief: Bool { if case .endpoint(let endpoint) = self { endpoint.isBrief } else { false } }

    /// The path without what people put into it, for logs and metrics.
    var template: String {
        switch self {
        case .own(let own): own.rawValue
        case .endpoint(let endpoint): endpoint.path
        case .otherMethod(let template): template
        case .unknown: "unknown"
        }
    }
}
