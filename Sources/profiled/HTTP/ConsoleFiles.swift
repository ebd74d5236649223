internal import CConsole
internal import Foundation
internal import ProfileLogRequests
internal import Synchronization

/// A path at `/console` or under it.
struct ConsolePath: Sendable {
    /// As in logs and metrics: the rest may be a person's ID.
    static let template = "/console/"

    /// The part after `/console/`, as it was sent; nil for `/console`.
    let rest: String?

    init?(_ path: String) {
        let root = Self.template.utf8.dropLast()
        guard path.utf8.starts(with: root) else { return nil }
        let rest = path.utf8.dropFirst(root.count)
        guard let first = rest.first else {
            self.rest = nil
            return
        }
        guard first == UInt8(ascii: "/") else { return nil }
        self.rest = String(decoding: rest.dropFirst(), as: UTF8.self)
    }
}

/// The files of the console, a page for browsers: those that were compiled in, or those of a folder.
final class ConsoleFiles: Sendable {
    private struct Content: Sendable {
        let bytes: [UInt8]
        /// The bytes with gzip; nil if they would not be fewer.
        let packed: [UInt8]?
        /// As in the header `ETag`, of the plain bytes.
        let tag: String
    }

    /// First words of addresses that the page itself understands.
    private static let places: Set = [
        "", "overview", "users", "devices", "messages", "events", "rejected", "rules", "traits", "states", "api",
    ]
    private static let page = "index.html"
    /// The page begins its own links with this; a browser takes them relative to the address of the place.
    private static let ownLink = "=\"./"
    /// No place has more words.
    private static let maxDepth = 4

    private static let mediaTypes = [
        "html": "text/html; charset=utf-8", "js": "text/javascript; charset=utf-8",
        "css": "text/css; charset=utf-8", "svg": "image/svg+xml",
    ]

    /// No script, style or request of another origin, and no text that becomes HTML.
    private static let headers: [(name: String, value: String)] = [
        (
            "Content-Security-Policy",
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
                + "frame-ancestors 'none'; base-uri 'none'; form-action 'none'; "
                + "require-trusted-types-for 'script'; trusted-types 'none'"
        ),
        ("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "no-referrer"),
        // A browser asks each time, and is told 304: a new version is seen at once.
        ("Cache-Control", "no-cache"), ("Vary", "Accept-Encoding"),
    ]

    private static let compiled: [String: [UInt8]] = {
        var files: [String: [UInt8]] = [:]
        var number = 0
        while let entry = profiled_console_file(number)?.pointee {
            number += 1
            files[String(cString: entry.name)] = Array(UnsafeBufferPointer(start: entry.bytes, count: entry.length))
        }
        return files
    }()

    private let folder: String?
    /// The compiled files that were asked for, by file and depth. Files of a folder change.
    private let ready = Mutex<[String: Content]>([:])

    init(folder: String?) { self.folder = folder }

    /// Throws if the folder has no page.
    func check() throws(StartError) {
        guard let folder, Self.bytes(of: Self.page, in: folder) == nil else { return }
        throw StartError(
            "The folder \(folder) of --console has no \(Self.page).",
            remedy: "Name the folder with the console's files: Sources/profiled/Console of a clone.")
    }

    // MARK: - Answers

    func answer(to path: ConsolePath, _ asked: RequestHeaders) -> APIAnswer {
        guard let rest = path.rest else {
            // Relative, so that it is right behind a proxy with a prefix.
            var answer = APIAnswer(status: 308, body: [])
            answer.headers = Self.headers + [(name: "Location", value: "console/")]
            return answer
        }
        guard let (name, content) = self.content(at: rest) else {
            var answer = Self.unknownFile.answer
            answer.headers += Self.headers
            return answer
        }
        let packed = asked.acceptsGzip ? content.packed : nil
        let tag = packed == nil ? content.tag : Gzip.tag(ofPacked: content.tag)
        let isKnown = asked.knows(tag)
        var answer = APIAnswer(status: isKnown ? 304 : 200, body: isKnown ? [] : packed ?? content.bytes, etag: tag)
        answer.mediaType = Self.mediaTypes[String(name.drop { $0 != "." }.dropFirst())] ?? "application/octet-stream"
        answer.headers = Self.headers
        if packed != nil, !isKnown { answer.headers.append((name: "Content-Encoding", value: "gzip")) }
        return answer
    }

    private static let unknownFile = APIError(
        status: 404, code: "unknown_path", error: "The console has no such file.",
        remedy: "Its pages begin at /console/.")

    // MARK: - Files

    private func content(at rest: String) -> (name: String, content: Content)? {
        if Self.isName(rest), let content = self.content(of: rest, depth: 0) { return (rest, content) }
        let words = rest.split(separator: "/", omittingEmptySubsequences: false)
        guard words.count <= Self.maxDepth, Self.places.contains(String(words[0])), rest.first != "/" else {
            return nil
        }
        return content(of: Self.page, depth: words.count - 1).map { (name: Self.page, content: $0) }
    }

    /// Tells whether it is a name with an extension of the console's files, without a folder and without escapes.
    private static func isName(_ text: String) -> Bool {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 2 && mediaTypes[String(parts[1])] != nil
            && parts.allSatisfy { part in
                !part.isEmpty
                    && part.utf8.allSatisfy { byte in
                        switch byte {
                        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                            UInt8(ascii: "-"):
                            true
                        default: false
                        }
                    }
            }
    }

    /// A file; `depth` is the number of folders that a browser sees it in.
    private func content(of name: String, depth: Int) -> Content? {
        let key = "\(depth)/\(name)"
        if folder == nil, let content = ready.withLock({ $0[key] }) { return content }
        let found: [UInt8]?
        if let folder { found = Self.bytes(of: name, in: folder) } else { found = Self.compiled[name] }
        guard var bytes = found else { return nil }
        if name == Self.page {
            let up = depth == 0 ? "./" : String(repeating: "../", count: depth)
            bytes = Array(
                String(decoding: bytes, as: UTF8.self).replacing(Self.ownLink, with: "=\"\(up)").utf8)
        }
        let packed = Gzip.packed(bytes, level: Gzip.smallest)
        let content = Content(bytes: bytes, packed: packed, tag: "\"\(Self.tag(bytes))\"")
        if folder == nil { ready.withLock { $0[key] = content } }
        return content
    }

    private static func bytes(of name: String, in folder: String) -> [UInt8]? {
        FileManager.default.contents(atPath: "\(folder)/\(name)").map { Array($0) }
    }

    /// FNV-1a, 64 bits: it tells versions of a file apart, and nothing more.
    private static func tag(_ bytes: [UInt8]) -> String {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        return String(hash, radix: 16)
    }
}

extension RequestHeaders {
    /// Tells whether the client has the version `tag` already.
    fileprivate func knows(_ tag: String) -> Bool {
        (self[.ifNoneMatch] ?? "").split(separator: ",").contains { part in
            let known = part.filter { $0 != " " && $0 != "\t" }
            return known == "*" || known == tag || known == "W/\(tag)"
        }
    }
}
