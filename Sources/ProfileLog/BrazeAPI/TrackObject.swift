internal import ProfileLogRequests

/// One object of a track request, read and found to be in order.
struct TrackObject {
    var target: TrackTarget
    /// In the order in which they take effect.
    var events: [ProfileEvent] = []
    var context: EventContext
    /// Fields that were skipped, with the reason.
    var dropped: [(field: String, reason: String)] = []
    /// Why nothing of it is stored, although it is in order; nil if it is.
    var blocked: String?
    /// The push tokens that make a user each; empty if it is about the target.
    var imports: [AttributeValue] = []
    /// What was sent for custom attributes whose text reads as a time.
    var dateTexts: [Name: String] = [:]
    /// The parts of a profile that it is about, for the answer of the synchronous endpoint.
    var touched: Touched

    enum Touched {
        case customAttributes([Name])
        case customEvent(Name)
        case product(Name)
    }
}

extension TrackObject {
    /// Takes back all that is done to custom attributes, each for a reason.
    mutating func leaveAlone(_ reasons: [Name: String]) {
        if reasons.isEmpty { return }
        events = events.compactMap { event in
            guard case .customAttributesChanged(let changes) = event else { return event }
            let others = changes.filter { reasons[$0.name] == nil }
            return others.isEmpty ? nil : .customAttributesChanged(others)
        }
        // In place of all that was said of them before.
        dropped.removeAll { reasons[Name($0.field)] != nil }
        dropped += reasons.sorted { $0.key < $1.key }.map { ($0.key.text, $0.value) }
    }
}

/// Reads the objects of a track request. Knows the wire and the domain; no store, no clock.
struct TrackReader {
    let workspace: Workspace
    /// What time it is: an event cannot be later.
    let now: Timestamp
    /// The body of the request.
    let request: [UInt8]
    let sent: SentObjects

    init(workspace: Workspace, now: Timestamp, request: [UInt8]) {
        self.workspace = workspace
        self.now = now
        self.request = request
        sent = SentObjects(request)
    }

    var limits: TrackLimits { workspace.limits }

    /// - Parameter index: the place of `value` in `array`.
    func object(_ value: AttributeValue, in array: TrackArray, at index: Int) throws(TrackFault) -> TrackObject {
        guard case .object(let members) = value else { throw .object("must be an object") }
        if array == .attributes, let flag = value.present(WireNames.pushTokenImport) {
            guard let imports = flag.asFlag else { throw .notValid(WireNames.pushTokenImport.text) }
            if imports { return try pushTokenImport(value, members) }
        }
        let target = try TrackTarget(value)
        return switch array {
        case .attributes: try attributes(value, members, target)
        case .events: try event(value, target, index)
        case .purchases: try purchase(value, target, index)
        }
    }

    /// Whether `value` takes more than `limit` bytes as JSON.
    func isLarger(_ value: AttributeValue, than limit: Int) -> Bool {
        request.count > limit && value.jsonByteCount > limit  // most need no measuring
    }

    /// The properties of an object in the order in which they were sent: the parser sorts them.
    func inSentOrder(
        _ members: [AttributeValue.Member], _ array: TrackArray, _ index: Int
    ) -> [AttributeValue.Member] {
        guard let keys = sent.keys(of: WireNames.properties, ofObjectAt: index, in: array) else { return members }
        let places = Dictionary(keys.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
        return members.sorted { places[$0.key, default: 0] < places[$1.key, default: 0] }
    }

    /// A name that an event, an app or a product may have.
    func name(_ value: AttributeValue, _ field: Name) throws(TrackFault) -> String {
        guard let text = value.asText, !text.isEmpty, !text.isLonger(than: limits.charactersPerName) else {
            throw .notValid(field.text)
        }
        return text
    }

    /// An event or a purchase, with when and in which app it happened.
    func happening(
        _ object: AttributeValue, _ target: TrackTarget, _ touched: TrackObject.Touched
    ) throws(TrackFault) -> TrackObject {
        let context = EventContext(source: .rest, occurredAt: try TrackTime.occurredAt(object, now: now))
        var read = TrackObject(target: target, context: context, touched: touched)
        guard let app = object.present(WireNames.appID), app != .string("") else { return read }
        let id = try name(app, WireNames.appID)
        if workspace.knowsApp(id) {
            read.context.app = id
        } else {
            read.dropped.append((WireNames.appID.text, "is no app of the workspace"))
        }
        return read
    }
}
