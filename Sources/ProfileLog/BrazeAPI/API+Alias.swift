internal import ProfileLogRequests

/// `POST /users/alias/new` and `/users/alias/update` (spec/rest-api 2.3).
extension BrazeAPI {
    func addAliases(_ request: APIRequest) async -> APIAnswer {
        await changeAliases(request, "user_aliases") { object throws(TrackFault) in
            let alias = try Self.alias(Self.unwrapped(object), WireNames.aliasName)
            // Empty text is no ID, as in a track request.
            let externalID = [Self.unwrapped(object), object].compactMap { $0.present(WireNames.externalID) }
                .first { $0 != .string("") }
            guard let value = externalID else { return .fixed(.addAlias(alias: alias, user: nil)) }
            guard let id = TrackTarget.externalID(value) else { throw .notValid("external_id") }
            return .fixed(.addAlias(alias: alias, user: .externalID(id)))
        }
    }

    func renameAliases(_ request: APIRequest) async -> APIAnswer {
        await changeAliases(request, "alias_updates") { object throws(TrackFault) in
            let names = Self.unwrapped(object)
            return .fixed(
                .renameAlias(
                    alias: try Self.alias(names, "old_alias_name"), newAlias: try Self.alias(names, "new_alias_name")))
        }
    }

    private func changeAliases(
        _ request: APIRequest, _ list: Name,
        _ read: (AttributeValue) throws(TrackFault) -> IdentityItem.Change
    ) async -> APIAnswer {
        do {
            let list = try IdentityRequest(request, [list]) { (object, _) throws(TrackFault) in
                try read(object)
            }
            return list.answer(try await carryOut(list.items, of: request))
        } catch {
            return APIProblem(error).messageAnswer
        }
    }

    /// The entry itself: a client was recorded that wraps each once more.
    private static func unwrapped(_ object: AttributeValue) -> AttributeValue {
        object.present(WireNames.userAlias) ?? object
    }

    /// The alias that `object` tells by its label and the name under `nameKey`.
    private static func alias(_ object: AttributeValue, _ nameKey: Name) throws(TrackFault) -> UserID {
        .alias(label: try part(object, WireNames.aliasLabel), name: try part(object, nameKey))
    }

    private static func part(_ object: AttributeValue, _ key: Name) throws(TrackFault) -> String {
        guard let value = object.present(key) else { throw .required(key.text) }
        guard let text = value.asText, Identifiers.fits(text) else { throw .notValid(key.text) }
        return text
    }
}
