/// Addresses by which users can be found: the keys of table `contacts`, from every e-mail address and phone number that
/// a record gives.
///
/// There is a key for each user who was ever given the address. The profiles tell which user has it now.
package enum ContactKey {
    /// An address in its normal form: e-mail in lower case, of a phone number the digits.
    ///
    /// Folds of profiles use it too. Lower case comes from a toolchain's Unicode tables. Unicode never changes the case
    /// pair of a known character (its stability policy), so a later toolchain gives the same key.
    package static func prefix(_ id: UserID) -> [UInt8]? {
        switch id {
        case .email(let address): prefix(id.kindNumber, address)
        case .phone(let number): prefix(id.kindNumber, number)
        default: nil
        }
    }

    /// Tells whether both are the same address.
    package static func isSame(_ id: UserID, _ text: String) -> Bool { prefix(id) == prefix(id.kindNumber, text) }

    private static func prefix(_ type: UInt8, _ text: String) -> [UInt8] {
        text.withRawUTF8 { prefix(type, $0) }
    }

    private static func prefix(_ type: UInt8, _ text: UnsafeRawBufferPointer) -> [UInt8] {
        let isPhone = type == UserID.phone("").kindNumber
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        for byte in text {
            if byte >= 0x80, !isPhone {
                return prefix(type, bytes: Array(String(decoding: text, as: UTF8.self).lowercased().utf8))
            }
            let isDigit = byte >= 0x30 && byte <= 0x39
            if isPhone, !isDigit { continue }
            bytes.append(byte >= 0x41 && byte <= 0x5A ? byte | 0x20 : byte)
        }
        return prefix(type, bytes: bytes)
    }

    /// The length comes first, so that no key is a prefix of another.
    private static func prefix(_ type: UInt8, bytes: [UInt8]) -> [UInt8] {
        bytes.count <= KeyCoding.longestPlainIdentifier
            ? [type, UInt8(bytes.count)] + bytes : [type | 0x80] + KeyCoding.hash(bytes)
    }

    /// The key of `user` under the address.
    package static func key(_ prefix: [UInt8], user: UInt64) -> [UInt8] {
        var key = prefix
        key.appendBigEndian(user)
        return key
    }

    /// Tells whether `key` can be one of a user under an address.
    package static func isKey(_ key: UnsafeRawBufferPointer) -> Bool {
        guard key.count >= 10 else { return false }
        let address = key[0] & 0x80 == 0 ? 1 + Int(key[1]) : KeyCoding.hashBytes
        let kind = key[0] & 0x7F
        return (kind == UserID.email("").kindNumber || kind == UserID.phone("").kindNumber)
            && key.count == 1 + address + 8
    }

    /// Calls `body` with the prefix of each address that the user attributes in a record's `fields` set.
    package static func forEach(in fields: UnsafeRawBufferPointer, _ body: ([UInt8]) -> Void) {
        var reader = WireReader(fields)
        while let entry = reader.bytes(of: RecordField.entries) {
            if let prefix = prefix(entry: entry) { body(prefix) }
        }
    }

    private static func prefix(entry: UnsafeRawBufferPointer) -> [UInt8]? {
        var reader = WireReader(entry)
        var type: UInt8?
        while let field = reader.field() {
            switch (field.number, field.type) {
            case (RecordField.Value.name, .varint):
                switch reader.varint() {
                case UInt64(StandardAttribute.email.rawValue): type = UserID.email("").kindNumber
                case UInt64(StandardAttribute.phone.rawValue): type = UserID.phone("").kindNumber
                default: return nil
                }
            case (RecordField.Value.string, .bytes): return type.map { prefix($0, reader.bytes()) }
            default: reader.skip(field.type)
            }
        }
        return nil
    }
}
