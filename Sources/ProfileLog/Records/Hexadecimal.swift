/// Bytes as pairs of hexadecimal digits.
package enum Hexadecimal {
    /// The digits, in lower case.
    package static func text(_ bytes: some Sequence<UInt8>) -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    /// The bytes; nil if the text is not hexadecimal.
    package static func bytes(_ text: String) -> [UInt8]? {
        let digits = text.utf8.compactMap { byte in Character(Unicode.Scalar(byte)).hexDigitValue.map(UInt8.init) }
        guard digits.count == text.utf8.count, digits.count.isMultiple(of: 2) else { return nil }
        return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }
}
