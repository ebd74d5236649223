internal import Crypto
internal import ProfileLog

/// A key as its owner sends it: `plk_`, the eight digits of its ID, `_`, and 64 digits of secret, all of them
/// hexadecimal.
struct APIKey {
    /// What finds the key in the file. It is no secret.
    let id: String
    /// 256 random bits in hexadecimal.
    private let secret: String

    /// What its owner sends.
    var text: String { "plk_\(id)_\(secret)" }

    /// A new one, from the system's source of randomness.
    static func random() -> APIKey {
        APIKey(id: Hexadecimal.text(randomBytes(4)), secret: Hexadecimal.text(randomBytes(32)))
    }

    private init(id: String, secret: String) {
        self.id = id
        self.secret = secret
    }

    /// Reads what was sent; nil if it is no key of this form.
    init?(_ text: String) {
        let parts = text.utf8.split(separator: UInt8(ascii: "_"), omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0].elementsEqual("plk".utf8), parts[1].count == 8, parts[2].count == 64 else {
            return nil
        }
        id = String(decoding: parts[1], as: UTF8.self)
        secret = String(decoding: parts[2], as: UTF8.self)
    }

    /// What the file keeps of the secret.
    ///
    /// One round of SHA-256 is enough. A password would need a slow hash, as it can be guessed; 256 random bits cannot.
    /// The salt keeps two files from showing that they hold the same key.
    func digest(salt: [UInt8]) -> SHA256.Digest { SHA256.hash(data: salt + Array(secret.utf8)) }

    static func randomBytes(_ count: Int) -> [UInt8] {
        var random = SystemRandomNumberGenerator()
        return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &random) }
    }
}
