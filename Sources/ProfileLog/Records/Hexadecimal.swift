/// Bytes as pairs of hexadecimal digits.
package enum Hexadecimal {
    /// The digits, in lower case.
    package static func text(_ bytes: some Sequence<UInt8>) -> String {
        Array(bytes).withUnsafeBytes { text($0) }
    }

    /// The digits, in lower case. Each user who is read has such a text.
    package static func text(_ bytes: UnsafeRawBufferPointer) -> String {
        String(unsafeUninitializedCapacity: 2 * bytes.count) { text in
            for (index, byte) in bytes.enumerated() {
                text[2 * index] = digit(byte >> 4)
                text[2 * index + 1] = digit(byte & 15)
            }
            return 2 * bytes.count
        }
    }

    @inline(__always)
    static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }

    /// The bytes; nil if the text is not hexadecimal.
    package static func bytes(_ text: String) -> [UInt8]? {
        let digits = text.utf8.compactMap { byte in Character(Unicode.Scalar(byte)).hexDigitValue.map(UInt8.init) }
        guard digits.count == text.utf8.count, digits.count.isMultiple(of: 2) else { return nil }
        return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }
}
