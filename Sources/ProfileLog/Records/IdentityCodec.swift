/// A user's IDs to wire bytes and back (message `Identity` of record.proto).
package enum IdentityCodec {
    package static func write(_ identity: UserID, field: UInt32, to writer: inout WireWriter) {
        let begin = writer.beginMessage(field)
        switch identity {
        case .externalID(let id): writer.field(1, text: id)
        case .alias(let label, let name):
            writer.field(2, text: label)
            writer.field(3, text: name)
        case .email(let address): writer.field(4, text: address)
        case .phone(let number): writer.field(5, text: number)
        case .device(let device): writer.field(6, text: device)
        case .assignedID: break  // follows from the user's number
        }
        writer.endMessage(begin)
    }

    package static func read(_ bytes: UnsafeRawBufferPointer) -> UserID? {
        var identity: UserID?
        var label: String?
        var reader = WireReader(bytes)
        while let field = reader.field() {
            switch (field.number, field.type) {
            case (1, .bytes): identity = .externalID(reader.text())
            case (2, .bytes): label = reader.text()
            case (3, .bytes): identity = .alias(label: label ?? "", name: reader.text())
            case (4, .bytes): identity = .email(reader.text())
            case (5, .bytes): identity = .phone(reader.text())
            case (6, .bytes): identity = .device(reader.text())
            default: reader.skip(field.type)
            }
        }
        return reader.isBad ? nil : identity
    }
}
