internal import Foundation
internal import Hummingbird

/// What a request is called in the log and in its answer: the client's own `X-Request-Id`, or a new one.
enum RequestID {
    private static let mostBytes = 128

    /// The client's, if it is short, printable and without spaces.
    static func of(_ request: Request) -> String {
        let given = request.headers.first { $0.name.canonicalName == "x-request-id" }?.value
        guard let given, (1...mostBytes).contains(given.utf8.count),
            given.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { return random() }
        return given
    }

    /// A UUID of version 4. Foundation's own opens a file for the random bits of each.
    private static func random() -> String {
        var random = SystemRandomNumberGenerator()
        let high = random.next() & ~0xF000 | 0x4000
        let low = random.next() & ~(0b11 << 62) | 0b10 << 62
        let bytes = withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { $0.loadUnaligned(as: uuid_t.self) }
        return UUID(uuid: bytes).uuidString.lowercased()
    }
}
