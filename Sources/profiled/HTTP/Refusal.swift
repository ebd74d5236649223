internal import HTTPTypes
internal import ProfileLog

/// Why the service itself refuses a request, before the API sees it.
struct Refusal {
    var status: Int
    /// One word for programs.
    var code: String
    /// One sentence.
    var error: String
    /// The next step.
    var remedy: String

    /// In the form of the native API, or in Braze's, where the sentence is called `message`.
    func answer(isNative: Bool) -> ServiceAnswer {
        var json = JSONWriter()
        json.beginObject()
        json.key(isNative ? "error" : "message")
        json.value(error)
        json.key("remedy")
        json.value(remedy)
        json.key("code")
        json.value(code)
        json.endObject()
        var answer = ServiceAnswer(status: status, body: json.bytes)
        answer.code = code
        return answer
    }
}

extension Refusal {
    /// An answer that is the last one of its connection, which is of no further use.
    func lastAnswer(isNative: Bool) -> ServiceAnswer {
        var answer = answer(isNative: isNative)
        answer.headers = [HTTPField(name: .connection, value: "close")]
        return answer
    }

    /// The answer to another method than GET on a path of the service itself.
    static var wrongMethod: ServiceAnswer {
        var answer = Refusal(
            status: 405, code: "wrong_method", error: "This path does not know this method.", remedy: "Send GET."
        ).answer(isNative: true)
        answer.headers = [HTTPField(name: .allow, value: ServiceAnswer.withHead("GET"))]
        return answer
    }

    static let tooManyValues = Refusal(
        status: 413, code: "too_large",
        error: "The body has more than \(ValueCount.most) values; nothing was stored.", remedy: "Send less at once.")

    static let tooSlow = Refusal(
        status: 408, code: "too_slow", error: "The body did not arrive in time; nothing was stored.",
        remedy: "Send it again, in one go.")

    static let cutOff = Refusal(
        status: 400, code: "cut_off", error: "The connection ended before the body did; nothing was stored.",
        remedy: "Send the request again.")

    static let fileGone = Refusal(
        status: 404, code: "unknown_export", error: "There is no such export any more.",
        remedy: "Ask for the segment again.")

    static let noRoom = Refusal(
        status: 429, code: "overloaded", error: "Too many large requests are being read; nothing was stored.",
        remedy: "Try again in a moment.")

    /// The answer to one reader of events too many.
    static var tooManyStreams: ServiceAnswer {
        var answer = Refusal(
            status: 503, code: "too_many_streams", error: "As many streams of events are open as the service allows.",
            remedy: "Close one, or start the service with a higher --max-streams."
        ).answer(isNative: true)
        answer.headers = [HTTPField(name: .retryAfter, value: "5")]
        return answer
    }
}
