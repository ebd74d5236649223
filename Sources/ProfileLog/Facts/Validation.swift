/// The rules for events of every source, by parts of an event (`ProfileEvent.check`). REST and the SDK have further
/// rules.
package enum Validation {
    static func check(_ purchase: Purchase) throws(AppendError) {
        try check(name: purchase.product, "The product's ID")
        try check(properties: purchase.properties)
        guard purchase.price.isFinite else { throw .invalid(place: "The price", reason: "must be a finite number") }
        guard (1...100).contains(purchase.quantity) else {
            throw .invalid(place: "The quantity", reason: "must be from 1 to 100")
        }
        guard Purchase.holdsRevenue(purchase.price, times: purchase.quantity) else {
            throw .invalid(place: "The price", reason: "is too large to be added up")
        }
        let currency = purchase.currency.utf8
        guard currency.count == 3, currency.allSatisfy({ (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) })
        else {
            throw .invalid(place: "The currency", reason: "must be three capital letters, as in ISO 4217")
        }
    }

    static func check(_ changes: [AttributeChange]) throws(AppendError) {
        guard !changes.isEmpty else { throw .invalid(place: "The attributes", reason: "must not be empty") }
        try refuseDoubles(changes, "The attribute") { $0.name }
        for change in changes {
            try check(name: change.name, "The attribute's name")
            try check(change)
        }
    }

    static func check(_ changes: [UserAttributeChange]) throws(AppendError) {
        guard !changes.isEmpty else { throw .invalid(place: "The user attributes", reason: "must not be empty") }
        try refuseDoubles(changes, "The user attribute") { Name($0.attribute.name) }
        for change in changes { try check(change) }
    }

    private static func check(_ change: AttributeChange) throws(AppendError) {
        if case .set(let value) = change.operation { return try check(value, "The attribute", of: change.name) }
        let place = "The attribute \(change.name)"
        switch change.operation {
        case .set: break
        case .unset, .increment: break
        case .arrayAdd(let values), .arrayRemove(let values), .objectsAdd(let values): try check(.array(values), place)
        case .objectMerge(let members): try check(.object(members), place)
        case .objectsUpdate(let updates, _):
            for update in updates {
                try check(update.match.value, place)
                try check(.object(update.object), place)
            }
        case .objectsRemove(let matches): for match in matches { try check(match.value, place) }
        }
    }

    static func check(_ change: UserAttributeChange) throws(AppendError) {
        try check(change.value, "The user attribute", of: Name(change.attribute.name))
        if case .null = change.value { return }
        guard change.attribute.accepts(change.value) else {
            throw .invalid(
                place: "The user attribute \(change.attribute.name)", reason: "must be \(change.attribute.expectation)")
        }
    }

    @inline(__always)
    package static func check(name: borrowing Name, _ place: StaticString) throws(AppendError) {
        // A character has at least one byte, so short text needs no counting.
        if (1...Limits.charactersPerName).contains(name.text.utf8.count) { return }
        try check(uncommonName: name, "\(place)")
    }

    private static func check(uncommonName name: Name, _ place: String) throws(AppendError) {
        guard !name.text.isEmpty else { throw .invalid(place: place, reason: "must not be empty") }
        guard !name.text.isLonger(than: Limits.charactersPerName) else {
            throw .invalid(place: place, reason: "must not be longer than \(Limits.charactersPerName) characters")
        }
    }

    static func check(_ step: MessageStep) throws(AppendError) {
        if !step.message.text.isEmpty { try check(name: step.message, "The message's ID") }
        try check(properties: step.content)
    }

    static func check(properties: [AttributeValue.Member]?) throws(AppendError) {
        guard let properties else { return }
        try refuseDoubles(properties, "The property") { $0.key }
        // By index into a span: nothing is retained, and this is done for each property of each event.
        let members = properties.span
        for index in members.indices {
            try check(name: members[index].key, "The property's name")
            try check(members[index].value, "The property", of: members[index].key)
        }
    }

    @inline(__always)
    private static func refuseDoubles<Item>(
        _ items: [Item], _ what: StaticString, _ name: (borrowing Item) -> Name
    ) throws(AppendError) {
        let span = items.span
        var index = 1
        while index < span.count, name(span[index - 1]) < name(span[index]) { index += 1 }
        if index >= span.count { return }
        let sorted = items.map(name).sorted()
        for index in sorted.indices.dropFirst() where sorted[index] == sorted[index - 1] {
            throw .invalid(place: "\(what) \(sorted[index])", reason: "is given twice")
        }
    }

    /// As `check(_:_:)`, but builds the text of the place only when something is wrong.
    @inline(__always)
    private static func check(
        _ value: borrowing AttributeValue, _ what: StaticString, of name: borrowing Name
    ) throws(AppendError) {
        switch value {
        case .null, .bool, .int, .string: return
        case .double(let double) where double.isFinite: return
        case .date(let date) where date.isExpressible: return
        default: try check(copy value, "\(what) \(copy name)")
        }
    }

    private static func check(_ value: AttributeValue, _ place: String, depth: Int = 1) throws(AppendError) {
        guard depth <= Limits.valueDepth else {
            throw .invalid(place: place, reason: "must not be nested deeper than \(Limits.valueDepth)")
        }
        switch value {
        case .null, .bool, .int, .string: break
        case .double(let double):
            guard double.isFinite else { throw .invalid(place: place, reason: "must be a finite number") }
        case .date(let date): try check(date, place)
        case .array(let values): for value in values { try check(value, place, depth: depth + 1) }
        case .object(let members):
            try refuseDoubles(members, "The key") { $0.key }
            for member in members { try check(member.value, place, depth: depth + 1) }
        }
    }

    @inline(__always)
    package static func check(_ id: borrowing UserID) throws(AppendError) {
        switch id {
        case .externalID(let text) where (1...Limits.bytesPerIdentifier).contains(text.utf8.count): return
        default: try check(uncommonID: copy id)
        }
    }

    private static func check(uncommonID id: UserID) throws(AppendError) {
        for part in id.parts {
            guard !part.isEmpty else { throw .invalid(place: "The user's ID", reason: "must not be empty") }
            guard part.utf8.count <= Limits.bytesPerIdentifier else {
                throw .invalid(
                    place: "The user's ID", reason: "must not be longer than \(Limits.bytesPerIdentifier) bytes")
            }
        }
        if case .device(let device) = id { try check(device: device) }
    }

    /// Refuses what an SDK would refuse, if a person or an app gives it. What a device had saved already (an import) is
    /// stored and rejected by its launch.
    private static func checkForSDK(_ event: ProfileEvent, _ context: EventContext) throws(AppendError) {
        if let refusal = event.refusalBySDK { throw .invalid(place: refusal.place, reason: refusal.reason) }
        if let at = context.occurredAt?.timestamp, at < Timestamp(rawValue: 0) {
            throw .invalid(place: "The time", reason: "must not be before 1970")
        }
    }

    /// `group.` and then letters, digits, dots, hyphens and underscores, as in `group.com.example.app` (spec/device 7).
    package static func check(appGroup group: Name) throws(AppendError) {
        try check(name: group, "The app group's name")
        let allowed = group.text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"):
                true
            default: false
            }
        }
        guard allowed, group.text.hasPrefix("group."), group.text.utf8.count > 6 else {
            throw .invalid(
                place: "The app group",
                reason: "must be group. and letters, digits, dots or hyphens after it, as group.com.example.app")
        }
    }

    package static func check(device: String) throws(AppendError) {
        guard (1...Limits.bytesPerDevice).contains(device.utf8.count) else {
            throw .invalid(place: "The device's ID", reason: "must have 1 to \(Limits.bytesPerDevice) bytes")
        }
    }

    /// Checks the time at which something happened by the sender's clock.
    package static func check(time: OccurredAt?) throws(AppendError) {
        if let time { try check(time, "The time") }
    }

    private static func check(_ date: OccurredAt, _ place: String) throws(AppendError) {
        guard date.isExpressible else {
            throw .invalid(place: place, reason: "must be within the years 0 to 9999, and less than a day from UTC")
        }
    }

    package static func check(_ event: ProfileEvent, _ context: EventContext) throws(AppendError) {
        try event.check()
        try check(time: context.occurredAt)
        if context.source.isSDK { try checkForSDK(event, context) }
        if context.device != nil || context.process != nil || context.storage != nil || event.kind.isSaved {
            try checkPlace(event, context)
        }
    }

    /// The device, process and storage, which most events from servers do not have.
    private static func checkPlace(_ event: ProfileEvent, _ context: EventContext) throws(AppendError) {
        if let device = context.device { try check(device: device) }
        if let process = context.process { try check(name: process, "The process's name") }
        if case .appGroup(let group) = context.storage { try check(appGroup: group) }
        if event.kind.isSaved, context.device == nil || context.storage == nil {
            throw .invalid(place: "A saved item", reason: "needs a device and a storage")
        }
        // A record names one process: the one that saves, which must own the private storage.
        if case .privateTo(let owner) = context.storage {
            let process = context.process ?? DeviceStorage.app
            if owner == process { return }
            throw .invalid(
                place: "The private storage",
                reason: "must be that of the process that saves, \(process), and not of \(owner)")
        }
    }
}

extension StandardAttribute {
    fileprivate func accepts(_ value: AttributeValue) -> Bool {
        switch self {
        case .email, .firstName, .lastName, .phone, .country, .language, .homeCity, .timeZone, .imageURL:
            if case .string = value { return true }
            return false
        case .gender:
            guard case .string(let text) = value else { return false }
            return ["M", "F", "O", "N", "P"].contains(text)
        case .emailSubscribe, .pushSubscribe:
            guard case .string(let text) = value else { return false }
            return ["opted_in", "subscribed", "unsubscribed"].contains(text)
        case .dateOfBirth, .dateOfFirstSession, .dateOfLastSession, .markedEmailAsSpamAt:
            switch value {
            case .string, .date: return true
            default: return false
            }
        case .emailOpenTrackingDisabled, .emailClickTrackingDisabled:
            if case .bool = value { return true }
            return false
        case .currentLocation, .facebook, .twitter:
            if case .object = value { return true }
            return false
        case .pushTokens, .subscriptionGroups:
            guard case .array(let values) = value else { return false }
            return values.allSatisfy { if case .object = $0 { true } else { false } }
        }
    }

    fileprivate var expectation: String {
        switch self {
        case .gender: "one of M, F, O, N, P"
        case .emailSubscribe, .pushSubscribe: "opted_in, subscribed or unsubscribed"
        case .dateOfBirth, .dateOfFirstSession, .dateOfLastSession, .markedEmailAsSpamAt: "a date"
        case .emailOpenTrackingDisabled, .emailClickTrackingDisabled: "true or false"
        case .currentLocation, .facebook, .twitter: "an object"
        case .pushTokens, .subscriptionGroups: "an array of objects"
        case .email, .firstName, .lastName, .phone, .country, .language, .homeCity, .timeZone, .imageURL: "text"
        }
    }
}
