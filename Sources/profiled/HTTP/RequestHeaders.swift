internal import Foundation
internal import HTTPTypes

/// The headers of a request that the service reads, found in one pass: one look-up in `HTTPFields` costs as much.
struct RequestHeaders: Sendable {
    private(set) var accept: String?
    private(set) var acceptLanguage: String?
    private(set) var authorization: String?
    private(set) var contentEncoding: String?
    private(set) var contentLength: String?
    private(set) var contentType: String?
    private(set) var expect: String?
    private(set) var idempotencyKey: String?
    private(set) var ifMatch: String?
    private(set) var lastEventID: String?
    private(set) var origin: String?
    private(set) var brazeBulk: String?
    private(set) var requestID: String?
    private(set) var transferEncoding: String?

    init(_ fields: HTTPFields) {
        for field in fields {
            switch field.name.canonicalName {
            case "accept": Self.add(field, to: &accept)
            case "accept-language": Self.add(field, to: &acceptLanguage)
            case "authorization": Self.add(field, to: &authorization)
            case "content-encoding": Self.add(field, to: &contentEncoding)
            case "content-length": Self.add(field, to: &contentLength)
            case "content-type": Self.add(field, to: &contentType)
            case "expect": Self.add(field, to: &expect)
            case "idempotency-key": Self.add(field, to: &idempotencyKey)
            case "if-match": Self.add(field, to: &ifMatch)
            case "last-event-id": Self.add(field, to: &lastEventID)
            case "origin": Self.add(field, to: &origin)
            case "transfer-encoding": Self.add(field, to: &transferEncoding)
            case "x-braze-bulk": Self.add(field, to: &brazeBulk)
            case "x-request-id": Self.add(field, to: &requestID)
            default: break
            }
        }
    }

    /// A header that comes twice is a list (RFC 9110, 5.3).
    private static func add(_ field: HTTPField, to value: inout String?) {
        value = value.map { "\($0), \(field.value)" } ?? field.value
    }

    /// What the request is called in the log and in its answer: the client's `X-Request-Id` if that is short, printable
    /// and without spaces, else a new UUID.
    var id: String {
        guard let requestID, (1...128).contains(requestID.utf8.count),
            requestID.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { return UUID().uuidString.lowercased() }
        return requestID
    }

    /// Whether the client says that it sends in bulk (`X-Braze-Bulk`).
    var isBulk: Bool { brazeBulk?.lowercased() == "true" }

    /// Whether the client waits for a word before it sends the body.
    var asksFirst: Bool { expect?.lowercased() == "100-continue" }

    /// Whether the client takes a body of this type.
    func accepts(_ type: String) -> Bool { accept?.contains(type) ?? false }
}
