/// The keys of the tables (docs/decisions/0001), and the hashes that replace what is too long for a key.
package enum KeyCoding {
    /// Identifiers up to this many bytes are keys as they are.
    package static let longestPlainIdentifier = 255

    static let hashBytes = 16

    /// The first 16 bytes of SHA-256.
    package static func hash(_ bytes: [UInt8]) -> [UInt8] { Array(SHA256.hash(bytes).prefix(hashBytes)) }

    /// The key in `identifiers` for one of a user's IDs; nil for types without a row.
    package static func identifier(_ id: UserID) -> [UInt8]? {
        switch id {
        case .assignedID, .device: return nil
        case .externalID, .email, .phone, .alias:
            let (type, bytes) = (id.kindNumber, identifierBytes(id))
            return bytes.count <= longestPlainIdentifier ? [type] + bytes : [type | 0x80] + hash(bytes)
        }
    }

    private static func identifierBytes(_ id: UserID) -> [UInt8] {
        switch id {
        case .externalID(let text), .email(let text), .phone(let text), .assignedID(let text), .device(let text):
            return Array(text.utf8)
        case .alias(let label, let name):
            var bytes: [UInt8] = []
            bytes.appendBigEndian(UInt16(truncatingIfNeeded: label.utf8.count))
            return bytes + label.utf8 + name.utf8
        }
    }

    /// The whole identifier of a hashed key, as the row's value holds it; empty for a plain key.
    package static func identifierRemainder(_ id: UserID) -> [UInt8] {
        let text = identifierBytes(id)
        return text.count <= longestPlainIdentifier ? [] : text
    }

    package static func stream(user: UInt64, version: UInt64) -> [UInt8] {
        var key: [UInt8] = []
        key.reserveCapacity(16)
        key.appendBigEndian(user)
        key.appendBigEndian(version)
        return key
    }

    package static func devicePrefix(_ device: Name) -> [UInt8] {
        let utf8 = Array(device.text.utf8)
        return [UInt8(truncatingIfNeeded: utf8.count)] + utf8
    }

    package static func pending(device: Name, storage: UInt32, user: UInt64, position: UInt64) -> [UInt8] {
        var key = devicePrefix(device)
        key.appendBigEndian(storage)
        key.appendBigEndian(user)
        key.appendBigEndian(position)
        return key
    }

    package static func snapshotPrefix(_ projection: String) -> [UInt8] {
        var key: [UInt8] = []
        // Room for a user and a version.
        key.reserveCapacity(projection.utf8.count + 17)
        key.append(UInt8(truncatingIfNeeded: projection.utf8.count))
        key.append(contentsOf: projection.utf8)
        return key
    }

    package static func snapshotPrefix(_ projection: String, user: UInt64) -> [UInt8] {
        var key = snapshotPrefix(projection)
        key.appendBigEndian(user)
        return key
    }

    package static func snapshot(_ projection: String, user: UInt64, version: UInt64) -> [UInt8] {
        var key = snapshotPrefix(projection, user: user)
        key.appendBigEndian(version)
        return key
    }
}
