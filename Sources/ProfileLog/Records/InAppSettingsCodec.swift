/// Settings of in-app messages to wire bytes and back: equal settings, equal bytes; the defaults have none.
package enum InAppSettingsCodec {
    package static func write(_ settings: InAppSettings, to writer: inout WireWriter) {
        if settings.minimumInterval != 30 { writer.field(1, varint: UInt64(settings.minimumInterval)) }
        if !settings.isDisplayAutomatic { writer.field(2, varint: 1) }
        if settings.guardsUser { writer.field(3, varint: 1) }
        if settings.orientation == .landscape { writer.field(4, varint: 1) }
        if settings.theme == .dark { writer.field(5, varint: 1) }
        if settings.requestTime > 0 { writer.field(6, varint: UInt64(settings.requestTime)) }
        if settings.decision != .show { writer.field(7, varint: UInt64(settings.decision.rawValue)) }
        for (message, decision) in settings.decisions.sorted(by: { $0.key < $1.key }) {
            let begin = writer.beginMessage(8)
            writer.field(1, text: message.text)
            writer.field(2, varint: UInt64(decision.rawValue))
            writer.endMessage(begin)
        }
        for message in settings.failingAssets.sorted() { writer.field(9, text: message.text) }
    }

    /// Nil if the bytes are not such a message. Unknown fields are skipped.
    package static func read(_ bytes: UnsafeRawBufferPointer) -> InAppSettings? {
        var settings = InAppSettings()
        var reader = WireReader(bytes)
        while let field = reader.field() {
            switch (field.number, field.type) {
            case (1, .varint): settings.minimumInterval = UInt32(truncatingIfNeeded: reader.varint())
            case (2, .varint): settings.isDisplayAutomatic = reader.varint() == 0
            case (3, .varint): settings.guardsUser = reader.varint() != 0
            case (4, .varint): settings.orientation = reader.varint() == 0 ? .portrait : .landscape
            case (5, .varint): settings.theme = reader.varint() == 0 ? .light : .dark
            case (6, .varint): settings.requestTime = UInt32(truncatingIfNeeded: reader.varint())
            case (7, .varint): settings.decision = decision(reader.varint())
            case (8, .bytes):
                var pair = WireReader(reader.bytes())
                var message: Name = ""
                var answer = InAppSettings.Decision.show
                while let field = pair.field() {
                    switch (field.number, field.type) {
                    case (1, .bytes): message = Name(pair.text())
                    case (2, .varint): answer = decision(pair.varint())
                    default: pair.skip(field.type)
                    }
                }
                if pair.isBad { return nil }
                settings.decisions[message] = answer
            case (9, .bytes): settings.failingAssets.insert(Name(reader.text()))
            default: reader.skip(field.type)
            }
        }
        return reader.isBad ? nil : settings
    }

    private static func decision(_ number: UInt64) -> InAppSettings.Decision {
        .init(rawValue: UInt8(truncatingIfNeeded: number)) ?? .show
    }
}
