internal import ProfileLogRequests

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
