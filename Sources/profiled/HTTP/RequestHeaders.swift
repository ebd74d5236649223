internal import Foundation
internal import HTTPTypes
internal import Synchronization

/// The headers of a request that the service reads, found in one pass: one look-up in `HTTPFields` costs as much.
struct RequestHeaders: Sendable {
    enum Name: Int, CaseIterable {
        case accept, acceptEncoding, acceptLanguage, askedMethod, authorization, bulk, contentEncoding, contentLength,
            contentType
        case expect, forwarded, idempotencyKey, ifMatch, ifNoneMatch, lastEventID, origin, referer, requestID
        case secFetchDest, secFetchMode, secFetchSite, secFetchUser, transferEncoding, userAgent

        fileprivate init?(_ text: String) {
            switch text {
            case "accept": self = .accept
            case "accept-encoding": self = .acceptEncoding
            case "accept-language": self = .acceptLanguage
            case "access-control-request-method": self = .askedMethod
            case "authorization": self = .authorization
            case "content-encoding": self = .contentEncoding
            case "content-length": self = .contentLength
            case "content-type": self = .contentType
            case "expect": self = .expect
            case "idempotency-key": self = .idempotencyKey
            case "if-match": self = .ifMatch
            case "if-none-match": self = .ifNoneMatch
            case "last-event-id": self = .lastEventID
            case "origin": self = .origin
            case "referer": self = .referer
            case "sec-fetch-dest": self = .secFetchDest
            case "sec-fetch-mode": self = .secFetchMode
            case "sec-fetch-site": self = .secFetchSite
            case "sec-fetch-user": self = .secFetchUser
            case "transfer-encoding": self = .transferEncoding
            case "user-agent": self = .userAgent
            case "x-braze-bulk": self = .bulk
            case "x-profilelog-forwarded": self = .forwarded
            case "x-request-id": self = .requestID
            default: return nil
            }
        }
    }

    /// Values by the numbers of names: a dictionary would hash a name for each look-up, of which a request has a dozen.
    private var values = [String?](repeating: nil, count: Name.allCases.count)

    init(_ fields: HTTPFields) {
        for field in fields {
            guard let name = Name(field.name.canonicalName) else { continue }
            // A header that comes twice is a list (RFC 9110, 5.3).
            values[name.rawValue] = self[name].map { "\($0), \(field.value)" } ?? field.value
        }
    }

    subscript(name: Name) -> String? { values[name.rawValue] }

    /// Identifies the request in log and answer: the client's `X-Request-Id` if it is short and printable, else a
    /// number of this process, as `k3v9…-1z`.
    var id: String {
        guard let id = self[.requestID], (1...128).contains(id.utf8.count),
            id.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { return "\(Self.process)-\(String(Self.count.add(1, ordering: .relaxed).newValue, radix: 36))" }
        return id
    }

    private static let process = String(UInt64.random(in: .min ... .max), radix: 36)
    private static let count = Atomic<UInt64>(0)

    /// Tells whether a browser may have sent it: no script of a page can take all of these headers out. A few programs
    /// send some of them too, as Node's `fetch` and PowerShell.
    var isFromBrowser: Bool {
        let marks: [Name] = [
            .secFetchSite, .secFetchMode, .secFetchDest, .secFetchUser, .origin, .referer, .acceptLanguage,
        ]
        return marks.contains { self[$0] != nil } || self[.userAgent]?.hasPrefix("Mozilla/") == true
    }

    var isBulk: Bool { self[.bulk]?.lowercased() == "true" }

    /// Tells whether the client waits for permission before it sends the body.
    var asksFirst: Bool { self[.expect]?.lowercased() == "100-continue" }
    func accepts(_ type: String) -> Bool { self[.accept]?.contains(type) ?? false }
}

/// The query of a URL as forms write it: `name=value&…`, with `%XX` for a byte and `+` for a space.
enum QueryText {
    /// The parameters in their order; nil if an escape is broken or a text is not UTF-8.
    static func parameters(_ query: String) -> [(name: String, value: String)]? {
        var parameters: [(name: String, value: String)] = []
        for part in query.split(separator: "&") {
            let sides = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map {
                $0.replacing("+", with: " ").removingPercentEncoding
            }
            guard let name = sides[0], let value = sides.count == 2 ? sides[1] : "" else { return nil }
            parameters.append((name, value))
        }
        return parameters
    }
}
