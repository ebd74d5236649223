/// The state of a device without its pending items.
package struct DeviceStatus: Hashable, Sendable {
    /// The user on it; nil if there is none.
    package var user: UInt64?
    /// Position of the last `appLaunched`; 0 if there was none.
    package var launch: UInt64 = 0
    /// The lists that the last launch takes: none, if the SDK was disabled then.
    package internal(set) var lists = PendingKind.all
    /// The number of `pendingFlushed` events of the last launch for each user.
    package internal(set) var chunks: [UInt64: UInt32] = [:]
    /// Position of the `sessionStarted` of the session that is open; 0 if none is.
    package var session: UInt64 = 0
    /// The time at which the app left the foreground; nil while it is there, or was never launched. A launch in the
    /// background does not change it; the first one counts as away.
    package internal(set) var leftAt: Int64?
    /// The time at which the SDK last sent something, in microseconds since 1970; nil if it never did.
    package internal(set) var sentAt: Int64?
    package var settings = DeviceSettings()
    package private(set) var pushes = PushState()
    /// Tells whether the app was removed from it, and not launched since.
    package private(set) var isRemoved = false
    /// Its in-app messages; nil if it never got any.
    package private(set) var inApp: InAppState?

    /// Tells whether the app is on the screen.
    package var isInForeground: Bool { launch > 0 && leftAt == nil && !settings.push.isForceQuit }

    /// Tells whether the SDK exists and has not processed what was captured before.
    package var hasProcessible: Bool { settings.push.hasInstance && !pushes.captured.isEmpty }

    /// Tells whether nothing but pushes ever came to it.
    package var isVacant: Bool {
        var other = DeviceStatus()
        other.pushes = pushes
        return self == other
    }

    package init() {}

    package mutating func apply(_ change: DeviceChange) {
        switch change {
        case .user(let user): self.user = user
        case .merged(let source, let target):
            if user == source { user = target }
            inApp?.merge(source, into: target)
        case .launched(let position, let lists, let isInBackground, let at):
            if !isInBackground { leftAt = nil } else if launch == 0 { leftAt = at }
            launch = position
            isRemoved = false
            self.lists = settings.isSDKEnabled ? lists : []
            chunks = [:]
        // If the launch's user was erased since, only the items of others are left.
        case .flushed(let user, let launch): if launch == self.launch { chunks[user, default: 0] &+= 1 }
        case .left(let at): leftAt = at
        case .removed:
            let last = self
            self = DeviceStatus()
            (settings, pushes, isRemoved) = (last.settings, last.pushes, true)
        case .sessionStarted(let position): session = position
        case .sessionEnded: session = 0
        case .settings(let settings): self.settings = settings
        case .sent(_, let at): sentAt = at
        case .push(let step): pushes.apply(step)
        case .inApp(let step):
            var messages = inApp.take() ?? InAppState()
            messages.apply(step)
            inApp = messages
        case .saved, .handed, .gone: break
        }
    }
}

extension DeviceStatus {
    /// As a message: equal statuses, equal bytes.
    package func write(to writer: inout WireWriter) {
        if let user { writer.field(1, varint: user) }
        if launch > 0 { writer.field(2, varint: launch) }
        if session > 0 { writer.field(3, varint: session) }
        if let leftAt { writer.field(4, signed: leftAt) }
        if let sentAt { writer.field(5, signed: sentAt) }
        if lists != PendingKind.all { writer.field(6, varint: PendingKind.skippedMask(lists)) }
        if !chunks.isEmpty {
            let begin = writer.beginMessage(7)
            for (user, count) in chunks.sorted(by: { $0.key < $1.key }) {
                writer.varint(user)
                writer.varint(UInt64(count))
            }
            writer.endMessage(begin)
        }
        if !pushes.isEmpty { PushState.wire.write(pushes, as: 8, to: &writer) }
        if let inApp { InAppState.wire.write(inApp, as: 9, to: &writer) }
        if isRemoved { writer.field(10, varint: 1) }
        if settings != DeviceSettings() {
            DeviceSettings.wire.write(settings, as: RecordField.settings, to: &writer)
        }
    }

    /// Returns nil if the bytes are not such a message.
    package init?(_ bytes: UnsafeRawBufferPointer) {
        var reader = WireReader(bytes)
        while let field = reader.field() {
            switch (field.number, field.type) {
            case (1, .varint): user = reader.varint()
            case (2, .varint): launch = reader.varint()
            case (3, .varint): session = reader.varint()
            case (4, .varint): leftAt = reader.signed()
            case (5, .varint): sentAt = reader.signed()
            case (6, .varint): lists = PendingKind.lists(skipping: reader.varint())
            case (7, .bytes):
                var pairs = WireReader(reader.bytes())
                while !pairs.isAtEnd { chunks[pairs.varint()] = UInt32(truncatingIfNeeded: pairs.varint()) }
                if pairs.isBad { return nil }
            case (8, .bytes):
                guard let pushes = PushState.wire.read(reader.bytes()) else { return nil }
                self.pushes = pushes
            case (9, .bytes):
                guard let inApp = InAppState.wire.read(reader.bytes()) else { return nil }
                self.inApp = inApp
            case (10, .varint): isRemoved = reader.varint() != 0
            case (RecordField.settings, .bytes):
                guard let settings = DeviceSettings.wire.read(reader.bytes()) else { return nil }
                self.settings = settings
            default: return nil
            }
        }
        if reader.isBad { return nil }
    }
}
