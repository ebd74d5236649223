/// A string in the form `00112233-4455-6677-8899-aabbccddeeff` (RFC 9562), lower case, and its 16 bytes.
///
/// Such strings are common among properties, and are stored as their bytes: 16 instead of 36. Any other spelling stays
/// a string, so that it is read back unchanged.
enum UUIDText {
    static let characters = 36
    static let bytes = 16

    /// Writes the bytes of `text` to `target`, which has room for them; false if it is not such a string.
    @inline(__always)
    static func read(_ text: UnsafeRawBufferPointer, to target: UnsafeMutablePointer<UInt8>) -> Bool {
        let dash = UInt8(ascii: "-")
        guard text.count == characters, text[8] == dash, text[13] == dash, text[18] == dash, text[23] == dash else {
            return false
        }
        let places = ((0, 4), (9, 14), (19, 24), (28, 32))
        guard let first = fourBytes(text, places.0), let second = fourBytes(text, places.1),
            let third = fourBytes(text, places.2), let fourth = fourBytes(text, places.3)
        else { return false }
        let value = UnsafeMutableRawPointer(target)
        value.storeBytes(of: first.littleEndian, as: UInt32.self)
        value.storeBytes(of: second.littleEndian, toByteOffset: 4, as: UInt32.self)
        value.storeBytes(of: third.littleEndian, toByteOffset: 8, as: UInt32.self)
        value.storeBytes(of: fourth.littleEndian, toByteOffset: 12, as: UInt32.self)
        return true
    }

    /// The bytes of the four digits at each of two offsets, the first byte lowest; nil if there are other characters.
    /// All eight digits at once: digit by digit, UUIDs took a tenth of the encoding.
    @inline(__always)
    private static func fourBytes(_ text: UnsafeRawBufferPointer, _ places: (Int, Int)) -> UInt32? {
        let low = UInt32(littleEndian: text.loadUnaligned(fromByteOffset: places.0, as: UInt32.self))
        let high = UInt32(littleEndian: text.loadUnaligned(fromByteOffset: places.1, as: UInt32.self))
        let digits = UInt64(high) << 32 | UInt64(low)
        let ones: UInt64 = 0x0101_0101_0101_0101
        let letters = digits >> 6 & ones  // bit 6 is set in a … f, and not in 0 … 9
        let values = (digits & (ones &* 0x0F)) &+ letters &* 9
        // Compares with how the values would be written; the values 10 to 15 must be letters.
        let isWritten = digits == values &+ ones &* 0x30 &+ letters &* 0x27
        let areLetters = (values &+ ones &* 6) >> 4 & ones
        guard isWritten, areLetters == letters, values & (ones &* 0x10) == 0 else { return nil }
        let pairs = (values << 4 | values >> 8) & 0x00FF_00FF_00FF_00FF
        let fours = (pairs | pairs >> 8) & 0x0000_FFFF_0000_FFFF
        return UInt32(truncatingIfNeeded: fours | fours >> 16)
    }

    /// The string for 16 bytes.
    static func text(_ value: UnsafeRawBufferPointer) -> String {
        String(unsafeUninitializedCapacity: characters) { target in
            var place = 0
            for index in 0..<bytes {
                if index == 4 || index == 6 || index == 8 || index == 10 {
                    target[place] = UInt8(ascii: "-")
                    place += 1
                }
                target[place] = Hexadecimal.digit(value[index] >> 4)
                target[place + 1] = Hexadecimal.digit(value[index] & 0x0F)
                place += 2
            }
            return characters
        }
    }
}
