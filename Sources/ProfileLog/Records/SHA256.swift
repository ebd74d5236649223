internal import CLibcrypto

/// SHA-256, computed by OpenSSL's libcrypto (docs/decisions/0011).
///
///     var hash = SHA256()
///     hash.update(first)
///     hash.update(second)
///     let digest = hash.finalize()
package struct SHA256: ~Copyable {
    /// `EVP_MD_fetch` searches libcrypto's providers, which costs more than the hash of a short key.
    private static let algorithm = Algorithm()

    private let context: OpaquePointer

    package init() {
        guard let context = EVP_MD_CTX_new() else { preconditionFailure("libcrypto has no memory for a hash.") }
        self.context = context
        Self.require(EVP_DigestInit_ex2(context, Self.algorithm.pointer, nil))
    }

    deinit { EVP_MD_CTX_free(context) }

    /// Adds `bytes` to what is hashed.
    package mutating func update(_ bytes: [UInt8]) { Self.require(EVP_DigestUpdate(context, bytes, bytes.count)) }

    /// The 32 bytes of the digest of all that was added.
    package consuming func finalize() -> [UInt8] {
        Self.digest { EVP_DigestFinal_ex(context, $0, nil) }
    }

    /// The 32 bytes of the digest of `bytes`.
    package static func hash(_ bytes: [UInt8]) -> [UInt8] {
        digest { EVP_Digest(bytes, bytes.count, $0, nil, algorithm.pointer, nil) }
    }

    /// Tells whether two digests are equal. The time that it takes tells nothing about where they differ
    /// (`CRYPTO_memcmp`).
    package static func areEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        left.count == right.count && CRYPTO_memcmp(left, right, left.count) == 0
    }

    private static func digest(_ fill: (UnsafeMutablePointer<UInt8>?) -> CInt) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 32) { buffer, count in
            require(fill(buffer.baseAddress))
            count = 32
        }
    }

    /// Hashing fails only where libcrypto is broken or has no memory.
    private static func require(_ status: CInt) { precondition(status == 1, "libcrypto cannot hash.") }

    /// libcrypto's SHA-256. It is immutable, and shared by all threads.
    private struct Algorithm: Sendable {
        private let address: UInt

        init() {
            guard let found = EVP_MD_fetch(nil, "SHA256", nil) else {
                preconditionFailure("libcrypto has no SHA-256.")
            }
            address = UInt(bitPattern: found)
        }

        var pointer: OpaquePointer? { OpaquePointer(bitPattern: address) }
    }
}
