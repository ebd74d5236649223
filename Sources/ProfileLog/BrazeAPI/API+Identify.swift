internal import ProfileLogRequests

/// `POST /users/identify`: users without an external ID get one, or go into the user who has it (spec/rest-api 2.4).
extension BrazeAPI {
    func identifyUsers(_ request: APIRequest) async -> APIAnswer {
        do {
            let lists = try IdentityRequest(
                request, [Self.aliasesToIdentify, Self.emailsToIdentify, Self.phonesToIdentify]
            ) { (object, list) throws(TrackFault) in
                guard let value = object.present(WireNames.externalID) else { throw .required("external_id") }
                guard let id = TrackTarget.externalID(value) else { throw .notValid("external_id") }
                return .identify(try Self.person(object, list), externalID: .externalID(id))
            }
            return lists.answer(try await carryOut(lists.items, of: request))
        } catch {
            return APIProblem(error).messageAnswer
        }
    }

    private static let aliasesToIdentify: Name = "aliases_to_identify"
    private static let emailsToIdentify: Name = "emails_to_identify"
    private static let phonesToIdentify: Name = "phone_numbers_to_identify"

    private static func person(_ object: AttributeValue, _ list: Name) throws(TrackFault) -> IdentityItem.Person {
        let key = [aliasesToIdentify: WireNames.userAlias, emailsToIdentify: WireNames.email][list] ?? WireNames.phone
        guard let value = object.present(key) else { throw .required(key.text) }
        guard let person = try IdentityItem.Person(object, key, value) else { throw .notValid(key.text) }
        return person
    }
}

extension IdentityItem.Person {
    /// The person whom `value` names, the member `key` of `object`; nil if it names none.
    ///
    /// An address needs the member `prioritization` with it.
    init?(_ object: AttributeValue, _ key: Name, _ value: AttributeValue) throws(TrackFault) {
        let id: UserID? =
            switch key {
            case WireNames.externalID: TrackTarget.externalID(value).map(UserID.externalID)
            case WireNames.userAlias: TrackTarget.alias(value)
            case WireNames.email: value.asText.flatMap(Identifiers.email).map(UserID.email)
            default: value.asText.flatMap(Identifiers.phone).map(UserID.phone)
            }
        guard let id else { return nil }
        switch id {
        case .email, .phone: self = .contact(id, try Prioritization(object.present("prioritization")))
        default: self = .id(id)
        }
    }
}
