internal import CLibcrypto
internal import Glibc

/// An NKey of NATS: an Ed25519 key as text. The seed of a user is
///
///     base32( prefix: 2 bytes of "SU" | 32 bytes | CRC-16, little-endian )
///
/// and its public key `base32( "U": 1 byte | 32 bytes | CRC-16 )`. libnats signs with the seed, and wants the public
/// key given.
enum NKey {
    private static let user: UInt8 = 20 << 3
    private static let seed: UInt8 = 18 << 3

    /// The public key that belongs to the first seed of a user in `file`; nil if there is none.
    static func publicKey(ofSeedIn file: String) -> String? {
        guard let text = text(of: file) else { return nil }
        return text.split(whereSeparator: \.isWhitespace).lazy.compactMap { publicKey(ofSeed: $0) }.first
    }

    static func publicKey(ofSeed text: some StringProtocol) -> String? {
        // 36 bytes are 58 letters.
        guard text.utf8.count == 58, let bytes = decode(text), bytes.count == 36,
            bytes[0] & 0b1111_1000 == seed, (bytes[0] & 0b111) << 5 | bytes[1] >> 3 == user,
            checksum(bytes[..<34]) == UInt16(bytes[34]) | UInt16(bytes[35]) << 8,
            let key = derive(Array(bytes[2..<34]))
        else { return nil }
        var coded = [user] + key
        let sum = checksum(coded[...])
        coded += [UInt8(truncatingIfNeeded: sum), UInt8(truncatingIfNeeded: sum >> 8)]
        return encode(coded)
    }

    private static func text(of file: String) -> String? {
        guard let stream = fopen(file, "r") else { return nil }
        defer { fclose(stream) }
        var bytes = [UInt8](repeating: 0, count: 8192)
        let count = fread(&bytes, 1, bytes.count, stream)
        return String(decoding: bytes[..<count], as: UTF8.self)
    }

    /// The public key of an Ed25519 seed (RFC 8032), by libcrypto.
    private static func derive(_ seed: [UInt8]) -> [UInt8]? {
        guard let key = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nil, seed, seed.count) else { return nil }
        defer { EVP_PKEY_free(key) }
        var bytes = [UInt8](repeating: 0, count: 32)
        var count = bytes.count
        return EVP_PKEY_get_raw_public_key(key, &bytes, &count) == 1 && count == 32 ? bytes : nil
    }

    // MARK: - Base 32 (RFC 4648, without padding) and CRC-16 (XMODEM)

    private static let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".utf8)

    private static func decode(_ text: some StringProtocol) -> [UInt8]? {
        var bytes: [UInt8] = []
        var (bits, count) = (0, 0)
        for letter in text.utf8 {
            guard let value = letters.firstIndex(of: letter) else { return nil }
            bits = (bits << 5 | value) & 0xFFF
            count += 5
            guard count >= 8 else { continue }
            count -= 8
            bytes.append(UInt8(truncatingIfNeeded: bits >> count))
        }
        return bytes
    }

    private static func encode(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        var (bits, count) = (0, 0)
        for byte in bytes {
            bits = (bits << 8 | Int(byte)) & 0xFFF
            count += 8
            while count >= 5 {
                count -= 5
                text.append(letters[bits >> count & 31])
            }
        }
        if count > 0 { text.append(letters[bits << (5 - count) & 31]) }
        return String(decoding: text, as: UTF8.self)
    }

    private static func checksum(_ bytes: ArraySlice<UInt8>) -> UInt16 {
        var sum: UInt16 = 0
        for byte in bytes {
            sum ^= UInt16(byte) << 8
            for _ in 0..<8 { sum = sum & 0x8000 != 0 ? sum << 1 ^ 0x1021 : sum << 1 }
        }
        return sum
    }
}
