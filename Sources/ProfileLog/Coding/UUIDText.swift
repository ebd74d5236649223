/// A string in the form `00112233-4455-6677-8899-aabbccddeeff` (RFC 9562), lower case, and the 16 bytes that it stands for.
///
/// Such strings are common among properties, and are stored as their bytes: 16 instead of 36. Any other spelling stays a string, so that
/// what is read is what was written.
enum UUIDText {
    static let characters = 36
    static let bytes = 16

    /// Writes the bytes that `text` stands for to `target`, which has room for them; false if it is no such string.
    @inline(__always)
    static func read(_ text: UnsafeRawBufferPointer, to target: UnsafeMutablePointer<UInt8>) -> Bool {
        let dash = UInt8(ascii: "-")
        guard text.count == characters, text[8] == dash, text[13] == dash, text[18] == dash, text[23] == dash else {
            return false
        }
        var place = 0
        for index in 0..<bytes {
            if index == 4 || index == 6 || index == 8 || index == 10 { place += 1 }
            let high = digit(text[place])
            let low = digit(text[place + 1])
            if high | low > 0x0F { return false }
            target[index] = high << 4 | low
            place += 2
        }
        return true
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
                target[place] = character(value[index] >> 4)
                target[place + 1] = character(value[index] & 0x0F)
                place += 2
            }
            return characters
        }
    }

    /// The value of a lower-case hexadecimal digit, or 0xFF.
    @inline(__always)
    private static func digit(_ character: UInt8) -> UInt8 {
        let number = character &- UInt8(ascii: "0")
        if number < 10 { return number }
        let letter = character &- UInt8(ascii: "a")
        return letter < 6 ? letter + 10 : 0xFF
    }

    @inline(__always)
    private static func character(_ digit: UInt8) -> UInt8 {
        digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") - 10 + digit
    }
}
