import ProfileLog
import Testing

/// The examples of FIPS 180-4.
@Suite("SHA-256")
struct SHA256Tests {
    private static let long = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"

    @Test(
        "Known texts have their known digests",
        arguments: [
            ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (long, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"),
        ])
    func known(text: String, digest: String) {
        #expect(Hexadecimal.text(SHA256.hash(Array(text.utf8))) == digest)
    }

    @Test("Parts give the digest of the whole")
    func parts() {
        let bytes = Array(Self.long.utf8)
        for cut in 0...bytes.count {
            var hash = SHA256()
            hash.update(Array(bytes[..<cut]))
            hash.update(Array(bytes[cut...]))
            #expect(SHA256.areEqual(hash.finalize(), SHA256.hash(bytes)))
        }
    }

    @Test("Digests that differ in one bit, or in length, are not equal")
    func unequal() {
        let digest = SHA256.hash([1])
        var other = digest
        other[31] ^= 1
        #expect(!SHA256.areEqual(digest, other))
        #expect(!SHA256.areEqual(digest, digest.dropLast()))
    }
}
