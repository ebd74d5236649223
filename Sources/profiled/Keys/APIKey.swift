internal import ProfileLog

/// A key as its owner sends it: `plk_`, 8 hexadecimal digits of its ID, `_`, and 64 of its secret.
struct APIKey {
    /// The ID that finds the key in the file. It is not secret.
    let id: String
    /// 256 random bits in hexadecimal.
    private let secret: String

    var text: String { "plk_\(id)_\(secret)" }

    /// A new one, from the system's source of randomness.
    static func random() -> APIKey {
        APIKey(id: Hexadecimal.text(randomBytes(4)), secret: Hexadecimal.text(randomBytes(32)))
    }

    private init(id: String, secret: String) { (self.id, self.secret) = (id, secret) }

    /// Reads what was sent; nil if it has another form.
    init?(_ text: String) {
        let parts = text.utf8.split(separator: UInt8(ascii: "_"), omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0].elementsEqual("plk".utf8), parts[1].count == 8, parts[2].count == 64 else {
            return nil
        }
        id = String(decoding: parts[1], as: UTF8.self)
        secret = String(decoding: parts[2], as: UTF8.self)
    }

    /// The digest of the secret. One round of SHA-256 is enough: 256 random bits cannot be guessed. The salt hides that
    /// two files hold the same key.
    func digest(salt: [UInt8]) -> [UInt8] { SHA256.hash(salt + Array(secret.utf8)) }

    static func randomBytes(_ count: Int) -> [UInt8] {
        var random = SystemRandomNumberGenerator()
        return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &random) }
    }
}

/// A key as the file keeps it: all but the secret.
struct StoredKey: Codable, Sendable {
    /// The eight digits by which a key names itself.
    var id: String
    var name: String
    /// The time at which it was made, as in RFC 3339.
    var created: String
    /// The permissions: names of permissions, or `all`.
    var permissions: [String]
    var salt: String
    /// SHA-256 of salt and secret, in hexadecimal.
    var hash: String

    init(_ key: APIKey, name: String, created: String, permissions: [String]) {
        let salt = APIKey.randomBytes(16)
        (id, self.name, self.created, self.permissions) = (key.id, name, created, permissions)
        (self.salt, hash) = (Hexadecimal.text(salt), Hexadecimal.text(key.digest(salt: salt)))
    }

    /// Tells whether `key` is this one, in constant time.
    func matches(_ key: APIKey) -> Bool {
        guard let salt = Hexadecimal.bytes(salt), let hash = Hexadecimal.bytes(hash) else { return false }
        return SHA256.areEqual(key.digest(salt: salt), hash)
    }

    /// Tells whether it may do what `permission` names.
    func allows(_ permission: String) -> Bool { permissions.contains("all") || permissions.contains(permission) }
}
