/// How a device is set up for push, to wire bytes and back (message `PushSettings` of record.proto). Defaults are not
/// written.
enum PushSettingsCodec {
    static func write(_ settings: PushSettings, field: UInt32, to writer: inout WireWriter) {
        let begin = writer.beginMessage(field)
        write(settings.permission.rawValue, 1, &writer)
        write(settings.isForceQuit ? 1 : 0, 2, &writer)
        write(settings.hasInstance ? 0 : 1, 3, &writer)
        if settings.startup != SDKStartup() { write(settings.startup, &writer) }
        if let contentExtension = settings.contentExtension { write(contentExtension, &writer) }
        write(settings.serverEvents.rawValue, 6, &writer)
        writer.endMessage(begin)
    }

    private static func write(_ value: UInt8, _ field: UInt32, _ writer: inout WireWriter) {
        if value > 0 { writer.field(field, varint: UInt64(value)) }
    }

    private static func write(_ startup: SDKStartup, _ writer: inout WireWriter) {
        let begin = writer.beginMessage(4)
        write(startup.isDelayed ? 1 : 0, 1, &writer)
        write(startup.preparation.rawValue, 2, &writer)
        writer.field(3, varint: UInt64(startup.automation.rawValue))
        write(startup.analytics.rawValue, 4, &writer)
        write(startup.subscribesInTime ? 0 : 1, 5, &writer)
        writer.endMessage(begin)
    }

    private static func write(_ contentExtension: ContentExtension, _ writer: inout WireWriter) {
        let begin = writer.beginMessage(5)
        for category in contentExtension.categories { writer.field(1, text: category.text) }
        write(contentExtension.allowsInteraction ? 1 : 0, 2, &writer)
        for pair in contentExtension.pairs {
            let begin = writer.beginMessage(3)
            writer.field(1, text: pair.key.text)
            write(pair.isNumber ? 1 : 0, 2, &writer)
            writer.endMessage(begin)
        }
        if let input = contentExtension.input { writer.field(4, varint: UInt64(input.rawValue)) }
        writer.endMessage(begin)
    }

    /// Nil if the bytes are not such a message.
    static func read(_ bytes: UnsafeRawBufferPointer) -> PushSettings? {
        var settings = PushSettings()
        var reader = WireReader(bytes)
        while let field = reader.field() {
            switch (field.number, field.type) {
            case (1, .varint): settings.permission = .init(rawValue: byte(&reader)) ?? .granted
            case (2, .varint): settings.isForceQuit = reader.varint() != 0
            case (3, .varint): settings.hasInstance = reader.varint() == 0
            case (4, .bytes):
                guard let startup = startup(reader.bytes()) else { return nil }
                settings.startup = startup
            case (5, .bytes):
                guard let contentExtension = contentExtension(reader.bytes()) else { return nil }
                settings.contentExtension = contentExtension
            case (6, .varint): settings.serverEvents = .init(rawValue: byte(&reader)) ?? .off
            default: reader.skip(field.type)
            }
        }
        return reader.isBad ? nil : settings
    }

    private static func byte(_ reader: inout WireReader) -> UInt8 { UInt8(truncatingIfNeeded: reader.varint()) }

    private static func startup(_ bytes: UnsafeRawBufferPointer) -> SDKStartup? {
        var startup = SDKStartup()
        var reader = WireReader(bytes)
        while let field = reader.field() {
            switch (field.number, field.type) {
            case (1, .varint): startup.isDelayed = reader.varint() != 0
            case (2, .varint): startup.preparation = .init(rawValue: byte(&reader)) ?? .never
            case (3, .varint): startup.automation = PushAutomation(rawValue: byte(&reader))
            case (4, .varint): startup.analytics = .init(rawValue: byte(&reader)) ?? .queue
            case (5, .varint): startup.subscribesInTime = reader.varint() == 0
            default: reader.skip(field.type)
            }
        }
        return reader.isBad ? nil : startup
    }

    private static func contentExtension(_ bytes: UnsafeRawBufferPointer) -> ContentExtension? {
        var contentExtension = ContentExtension(categories: [])
        var reader = WireReader(bytes)
        while let field = reader.field() {
            switch (field.number, field.type) {
            case (1, .bytes): contentExtension.categories.append(Name(reader.text()))
            case (2, .varint): contentExtension.allowsInteraction = reader.varint() != 0
            case (3, .bytes):
                guard let pair = pair(reader.bytes()) else { return nil }
                contentExtension.pairs.append(pair)
            case (4, .varint): contentExtension.input = .init(rawValue: byte(&reader))
            default: reader.skip(field.type)
            }
        }
        return reader.isBad ? nil : contentExtension
    }

    private static func pair(_ bytes: UnsafeRawBufferPointer) -> ContentExtension.Pair? {
        var pair = ContentExtension.Pair("")
        var reader = WireReader(bytes)
        while let field = reader.field() {
            switch (field.number, field.type) {
            case (1, .bytes): pair.key = Name(reader.text())
            case (2, .varint): pair.isNumber = reader.varint() != 0
            default: reader.skip(field.type)
            }
        }
        return reader.isBad ? nil : pair
    }
}
