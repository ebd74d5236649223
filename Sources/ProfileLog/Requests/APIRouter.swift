internal import ProfileLogSnippets

/// Answers requests of several dialects: a function from requests to answers; docs/api.md describes it.
///
/// The service calls it for HTTP and the command line in its own process, so both answer the same.
package struct APIRouter: Sendable {
    typealias Answer = @Sendable (APIRequest) async throws -> APIAnswer

    private let table: EndpointTable
    private let answers: [Answer]

    /// Bytes of a request's body that are read at most.
    package static let maxBodyBytes = 4 << 20

    package init(_ dialects: any Dialect...) {
        table = EndpointTable(dialects.map { type(of: $0) })
        answers = dialects.flatMap(\.answers)
    }

    /// Does what `request` asks. A failure is an answer too: an ``APIError`` in the dialect of the path.
    package func answer(_ request: APIRequest) async -> APIAnswer {
        var request = request
        request.path = table.plain(request.path)
        do {
            guard request.body.count <= Self.maxBodyBytes else {
                throw APIError.tooLarge("The body", bytes: Self.maxBodyBytes)
            }
            let match = try table.match(request)
            request.parameters = match.parameters
            request.inputs = match.endpoint.inputs
            let answer = try await answers[match.index](request)
            #if DEBUG
                try match.endpoint.check(answer)
            #endif
            return answer
        } catch {
            return APIError(error).answer(in: table.format(at: request.path))
        }
    }
}

extension APIRequest {
    /// `name` as one part of a path: every byte that is not plain is `%XX`, a slash and a dot included.
    package static func pathPart(_ name: String) -> String {
        var part = ""
        for byte in name.utf8 {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                part.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                part += "%" + (digits.utf8.count == 1 ? "0" : "") + digits
            }
        }
        return part
    }
}
