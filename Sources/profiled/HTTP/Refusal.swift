internal import HTTPTypes
internal import ProfileLogRequests

/// Why the service itself refuses a request, before the API sees it.
struct Refusal: Sendable {
    var status: Int
    /// One word for programs.
    var code: String
    /// One sentence.
    var error: String
    /// The next step.
    var remedy: String
    var headers: [HTTPField] = []

    /// In the form of the native API, or in Braze's, where the sentence is called `message`.
    func answer(isNative: Bool) -> ServiceAnswer {
        let body: JSONLiteral = [
            isNative ? "error" : "message": .string(error), "remedy": .string(remedy), "code": .string(code),
        ]
        var answer = ServiceAnswer(status: status, body: body.bytes)
        answer.code = code
        answer.headers = headers
        return answer
    }
}

// MARK: - Bodies

extension Refusal {
    static let contentEncoding = Refusal(
        status: 415, code: "unsupported_encoding", error: "The body is compressed; nothing was stored.",
        remedy: "Send it as it is, without the header Content-Encoding.")

    static let transferCoding = Refusal(
        status: 501, code: "unsupported_encoding",
        error: "The body has a transfer coding that is not known here; nothing was stored.",
        remedy: "Send it with Content-Length, or in chunks and nothing else.")

    static let form = Refusal(
        status: 415, code: "unsupported_type", error: "The body is a form; nothing was stored.",
        remedy: "Send a JSON object, as application/json.")

    static let tooLarge = Refusal(
        status: 413, code: "too_large",
        error: "The body is larger than \(APIRouter.maxBodyBytes) bytes; nothing was stored.",
        remedy: "Send less at once.")

    static let tooManyValues = Refusal(
        status: 413, code: "too_large",
        error: "The body has more than \(BodyReader.maxValues) values; nothing was stored.",
        remedy: "Send less at once.")

    static let tooSlow = Refusal(
        status: 408, code: "too_slow", error: "The body did not arrive in time; nothing was stored.",
        remedy: "Send it again, in one go.", headers: [.close])

    static let cutOff = Refusal(
        status: 400, code: "cut_off", error: "The connection ended before the body did; nothing was stored.",
        remedy: "Send the request again.", headers: [.close])

    static let noRoom = Refusal(
        status: 429, code: "overloaded", error: "Too many large requests are being read; nothing was stored.",
        remedy: "Try again in a moment.", headers: [HTTPField(name: .retryAfter, value: "1")])
}

// MARK: - The rest

extension Refusal {
    /// Another method than GET on a path of the service itself.
    static let wrongMethod = Refusal(
        status: 405, code: "wrong_method", error: "This path does not know this method.", remedy: "Send GET.",
        headers: [HTTPField(name: .allow, value: "GET, HEAD")])

    static let fileGone = Refusal(
        status: 404, code: "unknown_export", error: "This export is no longer there.",
        remedy: "Ask for the segment again.")

    static let tooManyStreams = Refusal(
        status: 503, code: "too_many_streams", error: "As many streams of events are open as the service allows.",
        remedy: "Close one, or start the service with a higher --max-streams.",
        headers: [HTTPField(name: .retryAfter, value: "5")])

    static let tooManyConnections = Refusal(
        status: 503, code: "too_many_connections",
        error: "This address has as many connections as the service allows, and all of them are in use.",
        remedy: "Use fewer at once, or start the service with a higher --max-connections-per-address.")
}
