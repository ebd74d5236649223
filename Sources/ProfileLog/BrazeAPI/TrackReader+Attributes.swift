internal import ProfileLogRequests

/// The objects of `attributes` (spec/rest-api 1.4, 1.5).
extension TrackReader {
    func attributes(
        _ object: AttributeValue, _ members: [AttributeValue.Member], _ target: TrackTarget
    ) throws(TrackFault) -> TrackObject {
        if isLarger(object, than: limits.bytesPerAttributesObject) {
            throw .object("the object is larger than \(TrackLimits.shown(bytes: limits.bytesPerAttributesObject))")
        }
        let attribute = CustomAttribute(reader: self, merging: try merging(object))
        var read = TrackObject(
            target: target, context: EventContext(source: .rest), touched: .customAttributes([]))
        var standard: [UserAttributeChange] = []
        /// Changes by their turn: an attribute is in an event once.
        var custom: [[AttributeChange]] = []
        var names: [Name] = []
        for member in members where !WireNames.notAttributes.contains(member.key) {
            do throws(TrackFault) {
                if let reserved = ReservedField.attribute(member.key) {
                    standard.append(try change(reserved, member.value, &read))
                    continue
                }
                names.append(member.key)
                if workspace.blockedAttributes.contains(member.key) {
                    throw TrackFault.field("is on the blocklist of the workspace")
                }
                let reading = try attribute.read(member.key, member.value)
                if case .string(let text) = member.value, case .set(.date) = reading.operations.first {
                    read.dateTexts[member.key] = text
                }
                if let remark = reading.remark { read.dropped.append((member.key.text, remark)) }
                for (turn, operation) in reading.operations.enumerated() {
                    if turn == custom.count { custom.append([]) }
                    custom[turn].append(.init(member.key, operation))
                }
            } catch .field(let reason) {
                read.dropped.append((Self.shown(member.key), reason))
            }
        }
        if !standard.isEmpty { read.events.append(.userAttributesChanged(standard)) }
        read.events += custom.map { .customAttributesChanged($0) }
        read.touched = .customAttributes(names)
        return read
    }

    private func merging(_ object: AttributeValue) throws(TrackFault) -> Bool {
        guard let flag = object.present(WireNames.mergeObjects) else { return false }
        guard let merging = flag.asFlag else { throw .notValid("_merge_objects") }
        return merging
    }

    private func change(
        _ attribute: StandardAttribute, _ value: AttributeValue, _ read: inout TrackObject
    ) throws(TrackFault) -> UserAttributeChange {
        var kept = try ReservedField.value(value, of: attribute)
        if attribute == .pushTokens { kept = try pushTokens(kept, &read) }
        if attribute == .subscriptionGroups, !workspace.subscriptionGroups.isEmpty {
            for id in SubscriptionStates(kept).ids where workspace.subscriptionGroup(id) == nil {
                throw .field("names a subscription group that the workspace does not have")
            }
        }
        if kept == .null, value != .null {
            read.dropped.append((attribute.name, "is not known, so the field was cleared"))
        }
        return .init(attribute, kept)
    }

    /// Push tokens of apps that the workspace has, each with a device.
    private func pushTokens(_ value: AttributeValue, _ read: inout TrackObject) throws(TrackFault) -> AttributeValue {
        guard let tokens = value.asArray, !tokens.isEmpty else { return value }
        let known = tokens.filter { workspace.knowsApp($0[WireNames.appID]?.asText ?? "") }
        if known.isEmpty { throw .field("names no app of the workspace") }
        if known.count < tokens.count {
            read.dropped.append((StandardAttribute.pushTokens.name, "names an app that the workspace does not have"))
        }
        return .array(known.map(Self.withDevice))
    }

    /// A token that names no device gets one, made of itself: the same each time.
    private static func withDevice(_ token: AttributeValue) -> AttributeValue {
        guard case .object(let members) = token, (token.present(WireNames.deviceID) ?? .string("")) == .string(""),
            let device = PushToken(token)?.deviceID
        else { return token }
        let others = members.filter { $0.key != WireNames.deviceID }
        return .object(
            (others + [.init(WireNames.deviceID, .string(device))]).sorted { $0.key < $1.key })
    }

    /// A field's name for an answer: not longer than a name may be.
    static func shown(_ name: Name) -> String { APIProblem.shown(name.text) }

    /// A property's name for an answer.
    static func shown(property name: Name) -> String { "properties.\(shown(name))" }
}

/// Objects of `attributes` with `push_token_import` (spec/rest-api 1.3).
extension TrackReader {
    /// What is said about each user that the tokens make. An address in it is an attribute, and no identifier.
    func pushTokenImport(
        _ object: AttributeValue, _ members: [AttributeValue.Member]
    ) throws(TrackFault) -> TrackObject {
        for name in [WireNames.externalID, WireNames.brazeID, WireNames.userAlias] where object.present(name) != nil {
            throw .object("'\(name.text)' is not allowed with 'push_token_import'")
        }
        let field = StandardAttribute.pushTokens.name
        guard object.present(Name(field)) != nil else { throw .required(field) }
        var read = try attributes(object, members, TrackTarget(user: .device(""), updatesOnly: false))
        for case .userAttributesChanged(let changes) in read.events {
            read.imports += changes.first { $0.attribute == .pushTokens }?.value.asArray ?? []
        }
        guard let first = read.imports.first else { throw .notValid(field) }
        read.target.user = .device(first[WireNames.deviceID]?.asText ?? "")
        return read
    }
}
