internal import Foundation
internal import ProfileLogMessaging
internal import ProfileLogRequests

/// The body of a request that sends (spec/messaging-api 1): what is sent to which users.
struct SendRequest: Sendable {
    var plan: SendPlan
    /// The users that the request names; none for a broadcast.
    var recipients: [Recipient] = []
    /// The condition that users must pass; nil for those that are named.
    var segment: Segment?
    var audience: AttributeValue?
    /// Something minor that is wrong: the rest is sent.
    var errors: [String] = []
    /// Fields of recipients that are ignored, by their places.
    private(set) var ignored: [(index: Int, reason: String)] = []

    /// A user that a request names.
    struct Recipient: Sendable {
        var person: Person
        /// The array of the request that has the recipient, and the element.
        let given: AttributeValue.Member
        /// Properties of their own, which override the common ones key by key.
        var properties: AttributeValue = .null
        /// Tells whether nothing is sent to an unknown user; else they are made first, with `attributes`.
        var updatesOnly = true
        var attributes: [AttributeValue.Member] = []
        /// The step that scheduled the send; nil if it was not scheduled.
        var cause: Position?
    }

    /// The array of the recipients, for places in answers.
    private var list = "recipients"

    /// Returns the place of the recipient `index` in the request.
    func place(of index: Int) -> (array: String, index: Int) {
        let array = recipients[index].given.key
        guard array != "recipients" else { return (list, index) }
        return (array.text, recipients[..<index].count { $0.given.key == array })
    }

    /// An ID of the sends of one request.
    private static var newDispatch: String { UUID().uuidString.lowercased().filter { $0 != "-" } }

    /// Recipients of one request.
    static let mostRecipients = 50
    /// Bytes of `canvas_entry_properties`.
    private static let mostPropertyBytes = 50 << 10

    /// Reads the body of a request of this form.
    init(_ form: SendForm, _ body: AttributeValue, _ workspace: Workspace) throws {
        let body = body.withoutEmptyMembers
        switch form {
        case .messages: try self.init(messages: body, workspace)
        case .campaign:
            let campaign = try Self.campaign(form, body, workspace)
            try self.init(body, campaign, .trigger, ["trigger_properties"], workspace)
        case .canvas:
            let canvas = try Self.campaign(form, body, workspace)
            try self.init(body, canvas, .canvasEntry, ["canvas_entry_properties", "context"], workspace)
        }
    }
}

// MARK: - `/messages/send`

extension SendRequest {
    init(messages body: AttributeValue, _ workspace: Workspace) throws {
        let campaign = body.present("campaign_id") == nil ? nil : try Self.campaign(.campaign, body, workspace)
        plan = SendPlan(campaign, .trigger, [], dispatch: Self.newDispatch)
        plan.sendID = try Self.sendID(body)
        plan.state = try Self.state(body)
        try readMessages(body, campaign)
        try readTarget(body, workspace)
    }

    private mutating func readMessages(_ body: AttributeValue, _ campaign: Campaign?) throws {
        guard case .object(let members) = body.present("messages"), !members.isEmpty else { throw Self.noMessage }
        let channels = MessageStep.Channel.sendable.map(\.name)
        for member in members where member.value != .null {
            let place = "messages.\(member.key.text.shown)"
            guard let channel = MessageStep.Channel(name: member.key.text), channel != .inAppMessage else {
                if member.key == "slideup" { try Self.checkSlideup(member.value, at: place) }
                let error = SendError.unknown(member.key.text, at: place, among: channels)
                errors.append("\(error): \(error.remedy)")
                continue
            }
            let slips = Self.misspelt(in: member.value, among: channel.fieldNames, at: place)
            do throws(SendError) {
                let message = try ChannelMessage(channel, member.value, at: place, from: .request)
                if let campaign { try Self.check(message, of: campaign, at: place) }
                plan.messages.append(message)
                errors += slips.map { "\($0): \($0.remedy)" }
            } catch {
                var apiError = APIError(error)
                if let slip = slips.first { apiError.remedy = "\(slip.message): \(slip.remedy)" }
                throw apiError
            }
        }
        if plan.messages.isEmpty {
            var apiError = Self.noMessage
            if let error = errors.first { apiError.remedy = error }
            throw apiError
        }
    }

    /// Characters of a slide-up, an in-app message of early versions of the platform. It is not simulated.
    private static let mostSlideupCharacters = 140

    private static func checkSlideup(_ slideup: AttributeValue, at place: String) throws {
        let texts = ["alert", "message"].compactMap { slideup.present($0)?.asText }
        guard texts.contains(where: { $0.isLonger(than: mostSlideupCharacters) }) else { return }
        throw refusal(
            "Slideup Message Length Exceeded", at: place, "Write at most \(mostSlideupCharacters) characters.")
    }

    /// Each message must stand for one of the campaign.
    private static func check(_ message: ChannelMessage, of campaign: Campaign, at place: String) throws(SendError) {
        let place = "\(place).message_variation_id"
        guard let variation = message.variation else {
            throw SendError(
                "Message Variant Unspecified", at: place, remedy: "Add the ID of a message of the campaign.")
        }
        guard let declared = campaign.message(variation: variation) else {
            throw SendError(
                "Invalid Message Variant", at: place, remedy: "Send an ID that the campaign has in the workspace file.")
        }
        guard declared.channel == message.channel else {
            throw SendError(
                "Mismatched Message Type", at: place,
                remedy: "The campaign's message of this ID is for \(declared.channel.name).")
        }
    }

    private mutating func readTarget(_ body: AttributeValue, _ workspace: Workspace) throws {
        for (key, label) in [("external_user_ids", "external ID"), ("user_aliases", "alias")] as [(Name, String)] {
            for (index, value) in try (body.array(key) ?? []).enumerated() {
                let id =
                    key == "user_aliases"
                    ? TrackTarget.alias(value) : TrackTarget.externalID(value).map(UserID.externalID)
                guard let id else { throw APIError.invalid("\(key)[\(index)]", "is no \(label)") }
                recipients.append(Recipient(person: .id(id), given: .init(key, value)))
            }
        }
        guard recipients.count <= Self.mostRecipients else {
            throw Self.refusal(
                "The max number of external_ids and aliases per request was exceeded", at: "external_user_ids",
                "Send at most \(Self.mostRecipients) in a request.")
        }
        if let id = body.present("segment_id") {
            segment = id.asText.flatMap { workspace.segment($0) }
            if segment == nil {
                throw Self.refusal(
                    "Invalid segment ID", at: "segment_id", "Send the `id` of a segment in the workspace file.")
            }
        }
        audience = body.present("audience")
        if recipients.isEmpty, segment == nil, audience == nil { throw Self.noRecipients }
        try checkBroadcast(body)
    }

    private static func state(_ body: AttributeValue) throws -> SendPlan.State {
        try body.member("recipient_subscription_state", "must be opted_in, subscribed or all") {
            $0.asText.flatMap(SendPlan.State.init)
        } ?? .subscribed
    }
}

// MARK: - Campaigns and canvases

extension SendRequest {

    /// The body of a transactional request for `campaign`.
    init(transactional body: AttributeValue, campaign id: String, _ workspace: Workspace) throws {
        let campaign = try Self.campaign(.campaign, id, workspace)
        let body = body.withoutEmptyMembers
        plan = SendPlan(campaign, .trigger, campaign.steps[0].messages, dispatch: Self.newDispatch)
        plan.properties = try Self.properties(body, ["trigger_properties"])
        guard let recipient = body.present("recipient") else { throw Self.noRecipients }
        try add(recipient, at: "recipient", ["trigger_properties"])
        list = "recipient"
    }

    private init(
        _ body: AttributeValue, _ campaign: Campaign, _ source: PropertySource, _ keys: [String], _ workspace: Workspace
    ) throws {
        plan = SendPlan(campaign, source, campaign.steps[0].messages, dispatch: Self.newDispatch)
        plan.sendID = try Self.sendID(body)
        plan.properties = try Self.properties(body, keys)
        if let values = try body.array("recipients") {
            guard values.count <= Self.mostRecipients else {
                throw Self.refusal(
                    "The max number of ids per request was exceeded", at: "recipients",
                    "Send at most \(Self.mostRecipients) in a request.")
            }
            for (index, value) in values.enumerated() {
                try add(value, at: "recipients[\(index)]", keys)
            }
        }
        audience = body.present("audience")
        segment = recipients.isEmpty ? campaign.segment.flatMap { workspace.segment($0) } : nil
        try checkBroadcast(body)
    }

    private mutating func add(_ value: AttributeValue, at place: String, _ keys: [String]) throws {
        let (recipient, ignored) = try Self.recipient(value, at: place, keys)
        let index = recipients.count
        self.ignored += ignored.map { (index, "attributes.\($0): is ignored, as the recipient has an identifier") }
        if !recipient.person.isAddress, value.present("prioritization") != nil {
            self.ignored.append((index, "prioritization: is ignored, as it chooses among users with an address"))
        }
        self.ignored += Misspelling.all(in: value, among: Self.recipientKeys + keys).map {
            (index, "'\($0.member ?? "")' \($0.reason)")
        }
        recipients.append(recipient)
    }

    /// The recipient, and which of their attributes are ignored.
    private static func recipient(
        _ given: AttributeValue, at place: String, _ keys: [String]
    ) throws -> (Recipient, ignored: [Name]) {
        let value = given.withoutEmptyMembers
        var noted: [Name] = []
        let identifiers: [(key: Name, id: Name)] = [
            ("external_user_id", WireNames.externalID), ("user_alias", WireNames.userAlias),
            ("braze_id", WireNames.brazeID), ("email", WireNames.email),
        ]
        let named = identifiers.compactMap { entry in value.present(entry.key).map { (entry, $0) } }
        guard named.count == 1, let (entry, identifier) = named.first else {
            let slip = misspelt(in: value, among: recipientKeys + keys, at: place).first
            throw APIError.invalid(
                place, "must have exactly one of external_user_id, user_alias, braze_id, email",
                remedy: slip.map { "\($0.message): \($0.remedy)" } ?? APIError.correctIt)
        }
        var recipient = Recipient(
            person: try person(value, entry.id, identifier, at: "\(place).\(entry.key)", in: place),
            given: .init("recipients", given))
        recipient.properties = try properties(value, keys, at: "\(place).")
        if case .object(let members) = try value.object("attributes", in: "\(place).") {
            // They would lead the attributes to another user, so those of the recipient count.
            var ignored: Set<Name> = [
                WireNames.externalID, WireNames.userAlias, WireNames.brazeID, WireNames.updateExistingOnly,
            ]
            if recipient.person.isAddress { ignored.insert(WireNames.email) }
            noted = members.filter { ignored.contains($0.key) && $0.value != .null }.map(\.key)
            recipient.attributes = members.filter { !ignored.contains($0.key) }
        }
        recipient.updatesOnly = try value.flag("send_to_existing_only", in: "\(place).") ?? true
        guard !recipient.updatesOnly else { return (recipient, noted) }
        let unfit: String? =
            switch recipient.person.id {
            case .alias: "an alias"
            case .assignedID: "a braze_id"
            default: nil
            }
        if let unfit {
            throw APIError.invalid(
                "\(place).send_to_existing_only", "must not be false for \(unfit)",
                remedy: "Name the user by external_user_id, or omit the member.")
        }
        guard value.present("attributes") != nil else {
            throw APIError.invalid("\(place).attributes", "is required, as 'send_to_existing_only' is false")
        }
        return (recipient, noted)
    }

    private static func person(
        _ object: AttributeValue, _ key: Name, _ value: AttributeValue, at place: String, in recipient: String
    ) throws -> Person {
        do throws(TrackError) {
            if let person = try Person(object, key, value) { return person }
        } catch {
            // An address that several users may have.
            let slip = misspelt(in: object, among: ["prioritization"], at: recipient).first
            throw APIError.invalid(
                "\(recipient).prioritization",
                object.present("prioritization") ?? .array([]) == .array([])
                    ? "is required with an address" : "is not valid",
                remedy: slip.map { "\($0.message): \($0.remedy)" }
                    ?? "Say which of the users with the address is meant: \(Prioritization.words).")
        }
        throw APIError.invalid(place, "is no such identifier")
    }

    /// The first of `keys` that is there, which must be an object.
    private static func properties(
        _ object: AttributeValue, _ keys: [String], at place: String = ""
    ) throws -> AttributeValue {
        for key in keys {
            guard let value = try object.object(Name(key), in: place) else { continue }
            guard value.jsonByteCount <= mostPropertyBytes else {
                throw APIError.invalid(place + key, "is larger than \(mostPropertyBytes) bytes")
            }
            return value
        }
        return .null
    }
}

// MARK: - What all have in common

extension SendRequest {
    /// `broadcast` must be true where no users are named, and false where some are.
    private func checkBroadcast(_ body: AttributeValue) throws {
        let isBroadcast = try body.flag("broadcast") ?? false
        if isBroadcast, !recipients.isEmpty {
            throw APIError.invalid(
                "broadcast", "must not be true with users", remedy: "Name the users, or send to all that match.")
        }
        guard isBroadcast || !recipients.isEmpty else { throw Self.noRecipients }
    }

    static func sendID(_ body: AttributeValue, _ key: Name = "send_id") throws -> String? {
        try body.member(key, "must be 1 to 64 characters of base 64") { $0.asText.flatMap { isSendID($0) ? $0 : nil } }
    }

    /// Tells whether `text` can be the ID of a send: 1 to 64 characters of base 64, also of its form for URLs.
    static func isSendID(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "a")...UInt8(ascii: "z"):
                    true
                default: "+/=-_".utf8.contains(byte)
                }
            }
    }

    /// The members of a recipient, without the properties.
    private static let recipientKeys = [
        "external_user_id", "user_alias", "braze_id", "email", "prioritization", "send_to_existing_only", "attributes",
    ]

    /// The campaign or canvas that the body names.
    static func campaign(_ form: SendForm, _ body: AttributeValue, _ workspace: Workspace) throws -> Campaign {
        try campaign(form, body.present(form.idKey)?.asText, workspace)
    }

    /// The campaign or canvas with this ID, which must be one of the workspace file's.
    private static func campaign(_ form: SendForm, _ id: String?, _ workspace: Workspace) throws -> Campaign {
        if let campaign = id.flatMap({ workspace.campaign(form, $0) }) { return campaign }
        let what = form == .canvas ? "canvas" : "campaign"
        let nearest = id.flatMap { NearestNames(to: $0, among: workspace.campaigns(form).map(\.id)).close.first }
        throw refusal(
            "Invalid \(what.capitalized) ID", at: form.idKey.text,
            nearest.map { "Did you mean '\($0.shown)'?" }
                ?? "Declare the \(what) in the workspace file (docs/workspace.md).")
    }

    /// As `init(_:_:_:)`, for a body that a client sent. A misspelt member is named: in the refusal to which it led, or
    /// as something minor.
    init(_ form: SendForm, _ body: AttributeValue, knownTo request: APIRequest, _ workspace: Workspace) throws {
        let slips = Self.misspelt(in: body, among: request.inputs?.map(\.name) ?? [], at: "")
        do {
            try self.init(form, body, workspace)
        } catch var apiError as APIError {
            let fits = slips.first { slip in apiError.place.map { slip.remedy.contains("'\($0)'") } ?? true }
            if let fits { apiError.remedy = "\(fits.message): \(fits.remedy)" }
            throw apiError
        }
        errors += slips.map { "\($0): \($0.remedy)" }
    }

    /// Names the next step for a missing member that another one was probably meant to be; nil if none was.
    static func remedy(forMissing key: String, in body: AttributeValue, _ request: APIRequest) -> String? {
        misspelt(in: body, among: request.inputs?.map(\.name) ?? [], at: "")
            .first { $0.remedy.contains("'\(key)'") }
            .map { "\($0.message): \($0.remedy)" }
    }

    /// Tells whether the limit of requests with a segment or an audience counts it.
    var isTargeted: Bool { recipients.isEmpty || segment != nil || audience != nil }

    /// The misspelt members of `object`, each with the nearest right word.
    static func misspelt(in object: AttributeValue, among known: [String], at place: String) -> [SendError] {
        Misspelling.all(in: object, among: known, at: place).map { slip in
            let member = slip.member ?? ""
            let key = place.isEmpty ? member : String(member.dropFirst(place.count + 1))
            return SendError("'\(key)' is not known", at: member, remedy: "Did you mean '\(slip.meant)'?")
        }
    }

    static let noRecipients = refusal(
        "No Recipients", at: nil, "Name users, or send \"broadcast\": true with a segment or an audience.")
    static let noMessage = refusal("No message to send", at: "messages", "Add a message for a channel.")

    /// Status 400 with the platform's words.
    static func refusal(_ message: String, at place: String?, _ remedy: String) -> APIError {
        APIError(status: 400, code: "invalid", error: message, remedy: remedy, place: place)
    }
}

extension AttributeValue {
    /// The object without empty IDs and properties, as clients write those that they do not have: empty text, an alias
    /// without name and label, and a list in place of an object, which is how PHP writes an empty one. What decides who
    /// gets a message, as `audience`, stays.
    fileprivate var withoutEmptyMembers: AttributeValue {
        guard case .object(let members) = self else { return self }
        return .object(
            members.filter { member in
                switch member.key {
                case "campaign_id", "send_id", "external_user_id", WireNames.brazeID, WireNames.email:
                    member.value != .string("")
                case WireNames.userAlias: !TrackTarget.isEmptyAlias(member.value)
                case "trigger_properties", "canvas_entry_properties", "context", "attributes":
                    member.value != .string("") && member.value != .array([])
                default: true
                }
            })
    }
}

extension APIError {
    /// Status 400: nothing is sent.
    init(_ error: SendError) {
        self = SendRequest.refusal(error.message, at: error.place, error.remedy)
    }
}
