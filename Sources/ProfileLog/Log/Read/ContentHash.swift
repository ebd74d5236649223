/// A hash for comparing contents.
package enum ContentHash {
    /// The first 16 bytes of the SHA-256 of `bytes`.
    package static func of(_ bytes: [UInt8]) -> [UInt8] { KeyCoding.hash(bytes) }
}
