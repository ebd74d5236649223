internal import Crypto
internal import ProfileLog

/// A key as the file keeps it: all but the secret.
struct StoredKey: Codable, Sendable {
    /// The eight digits by which a key names itself.
    var id: String
    /// What people call it.
    var name: String
    /// When it was made, as in RFC 3339.
    var created: String
    /// What it may do: names of permissions, or `all`.
    var permissions: [String]
    /// Hexadecimal.
    var salt: String
    /// SHA-256 of salt and secret, in hexadecimal.
    var hash: String

    /// Stores `key`.
    init(_ key: APIKey, name: String, created: String, permissions: [String]) {
        let salt = APIKey.randomBytes(16)
        id = key.id
        self.name = name
        self.created = created
        self.permissions = permissions
        self.salt = Hexadecimal.text(salt)
        hash = Hexadecimal.text(key.digest(salt: salt))
    }

    /// Whether `key` is this one, in constant time (as swift-crypto compares digests).
    func matches(_ key: APIKey) -> Bool {
        guard let salt = Hexadecimal.bytes(salt), let hash = Hexadecimal.bytes(hash) else { return false }
        return key.digest(salt: salt) == hash
    }

    /// Whether it may do what `permission` names.
    func allows(_ permission: String) -> Bool { permissions.contains("all") || permissions.contains(permission) }
}
