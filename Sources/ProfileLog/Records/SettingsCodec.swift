/// A device's settings to wire bytes and back (message `Settings` of record.proto).
package enum SettingsCodec {
    package static func write(_ settings: DeviceSettings, to writer: inout WireWriter) {
        let begin = writer.beginMessage(RecordField.settings)
        writeFields(settings, to: &writer)
        writer.endMessage(begin)
    }

    static func writeFields(_ settings: DeviceSettings, to writer: inout WireWriter) {
        if !settings.isSDKEnabled { writer.field(1, varint: 1) }
        if !settings.isOnline { writer.field(2, varint: 1) }
        if settings.requestPolicy != .automatic { writer.field(3, varint: UInt64(settings.requestPolicy.rawValue)) }
        if settings.flushInterval > 0 { writer.field(4, varint: UInt64(settings.flushInterval)) }
        writer.field(5, varint: UInt64(settings.sessionTimeout))
        for missing in settings.missingAppGroups {
            let begin = writer.beginMessage(6)
            writer.field(1, text: missing.process.text)
            writer.field(2, text: missing.group.text)
            writer.endMessage(begin)
        }
        if settings.push != PushSettings() { PushSettingsCodec.write(settings.push, field: 7, to: &writer) }
        if settings.inApp != InAppSettings() {
            let begin = writer.beginMessage(8)
            InAppSettingsCodec.write(settings.inApp, to: &writer)
            writer.endMessage(begin)
        }
    }

    /// Nil if the bytes are not such a message.
    package static func read(_ bytes: UnsafeRawBufferPointer) -> DeviceSettings? {
        var settings = DeviceSettings()
        var reader = WireReader(bytes)
        while let field = reader.field() {
            switch (field.number, field.type) {
            case (1, .varint): settings.isSDKEnabled = reader.varint() == 0
            case (2, .varint): settings.isOnline = reader.varint() == 0
            case (3, .varint):
                settings.requestPolicy = .init(rawValue: UInt8(truncatingIfNeeded: reader.varint())) ?? .automatic
            case (4, .varint): settings.flushInterval = UInt32(truncatingIfNeeded: reader.varint())
            case (5, .varint): settings.sessionTimeout = UInt32(truncatingIfNeeded: reader.varint())
            case (6, .bytes):
                guard let missing = readMissing(reader.bytes()) else { return nil }
                settings.setAppGroup(missing.group, of: missing.process, isMissing: true)
            case (7, .bytes):
                guard let push = PushSettingsCodec.read(reader.bytes()) else { return nil }
                settings.push = push
            case (8, .bytes):
                guard let inApp = InAppSettingsCodec.read(reader.bytes()) else { return nil }
                settings.inApp = inApp
            default: reader.skip(field.type)
            }
        }
        return reader.isBad ? nil : settings
    }

    private static func readMissing(_ bytes: UnsafeRawBufferPointer) -> DeviceSettings.MissingAppGroup? {
        var process: Name = ""
        var group: Name = ""
        var reader = WireReader(bytes)
        while let field = reader.field() {
            switch (field.number, field.type) {
            case (1, .bytes): process = Name(reader.text())
            case (2, .bytes): group = Name(reader.text())
            default: reader.skip(field.type)
            }
        }
        return reader.isBad ? nil : .init(process: process, group: group)
    }
}
