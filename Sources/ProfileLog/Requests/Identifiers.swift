internal import ProfileLogSnippets

/// IDs as requests carry them, refused before they meet the store if they could not be in it.
package enum Identifiers {
    package static func device(_ text: String, _ place: String = "device") throws -> String {
        guard (1...Limits.bytesPerDevice).contains(text.utf8.count) else {
            throw APIError.invalid(place, "must have 1 to \(Limits.bytesPerDevice) bytes")
        }
        return text
    }

    package static func user(_ text: String) throws -> UserID {
        // An alias has two parts, and its label twice as many bytes if there is a backslash before each.
        guard (1...(3 * Limits.bytesPerIdentifier + 16)).contains(text.utf8.count) else {
            throw APIError.invalid("user", "must have 1 to \(Limits.bytesPerIdentifier) bytes")
        }
        let id = UserID(text)
        if case .device(let device) = id { _ = try Identifiers.device(device, "user") }
        return id
    }

    /// Tells whether `text` can be an identifier, or a part of one.
    package static func fits(_ text: String) -> Bool { (1...Limits.bytesPerIdentifier).contains(text.utf8.count) }
}

extension UserReader {
    /// The user that `id` resolves to; nil if there is none.
    ///
    /// An e-mail address or a phone number means one of the users who have it now: those with an external ID come
    /// before others, then who was updated last counts.
    package func user(meantBy id: UserID) throws -> UserInfo? { try log.addresses.users(sharing: id).first }

    /// The user that `id` must resolve to.
    package func knownUser(meantBy id: UserID) throws -> UserInfo {
        guard let user = try user(meantBy: id) else { throw try unknownUser(id) }
        return user
    }

    /// Status 404: no user is known by `id`, maybe as they were merged into another.
    package func unknownUser(_ id: UserID) throws -> APIError {
        switch id {
        case .externalID, .alias:
            guard let merge = try log.past.merge(releasing: id) else { return .unknownUser(id) }
            return .mergedUser(id, into: merge.user.id, at: merge.position)
        // No merge takes these.
        case .assignedID, .email, .phone, .device: return .unknownUser(id)
        }
    }

    /// The ID under which to write for the user with `id`: `id` itself unless it is an address that a user has.
    package func writtenID(_ id: UserID) throws -> UserID {
        guard id.isAddress, let holder = try user(meantBy: id) else { return id }
        return .assignedID(holder.brazeID)
    }

    /// Tells whether `id` is an address that no user has, and that still leads to the user who was made by it. What is
    /// written for it would reach that user, although the address may have become another user's since.
    package func isOutdated(_ id: UserID) throws -> Bool {
        try id.isAddress && find(id) != nil && log.addresses.users(sharing: id).isEmpty
    }
}

extension PreparedAppend {
    /// Makes an outdated address free for a new user.
    package static func release(_ address: UserID) throws(AppendError) -> PreparedAppend {
        try .identity(.releaseAddress(address), context: EventContext(source: .system))
    }
}

extension UserID {
    /// Tells whether it is an e-mail address or a phone number, which several users may have.
    package var isAddress: Bool {
        switch self {
        case .email, .phone: true
        default: false
        }
    }
}
