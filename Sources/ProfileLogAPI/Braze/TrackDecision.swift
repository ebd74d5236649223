internal import ProfileLog

/// What becomes of each object of a track request, given who exists: stored, dropped or refused.
struct TrackDecision {
    private(set) var processed: [TrackArray: Int] = [:]
    private(set) var errors: [TrackError] = []
    private(set) var dropped: [TrackDrop] = []
    /// The objects that were in order, in the order in which they take effect.
    private(set) var objects: [TrackObject] = []
    /// Addresses that must be released before the decision holds: each still leads to a user who has another one by now.
    private(set) var outdated: [UserID] = []
    private let log: EventLog
    /// Who was looked up already, or is made by this request.
    private var known: [UserID: Bool] = [:]
    private var addresses: TrackAddresses

    /// Decides all of `body`, and adds what is to be stored to `builder`.
    init(_ body: TrackBody, _ reader: TrackReader, _ log: EventLog, _ builder: inout AppendBuilder) throws {
        self.log = log
        addresses = TrackAddresses(log)
        for array in TrackArray.allCases {
            for (index, value) in body[array].enumerated() {
                do {
                    let object = try reader.object(value, in: array)
                    try take(object, array, index, &builder)
                } catch TrackFault.object(let type) {
                    errors.append(TrackError(type: type, array: array, index: index))
                } catch TrackFault.field(let reason) {
                    errors.append(TrackError(type: reason, array: array, index: index))
                }
            }
        }
    }

    /// Whether no object was in order.
    var refusesAll: Bool { objects.isEmpty }

    private mutating func take(
        _ object: TrackObject, _ array: TrackArray, _ index: Int, _ builder: inout AppendBuilder
    ) throws {
        var object = object
        let user = try storedUser(object.target.user)
        if let reason = object.target.reasonAgainstCreation, try !exists(user) {
            accept(object, array)
            dropped.append(TrackDrop(reason: reason, array: array, index: index))
            return
        }
        if object.events.isEmpty, try !exists(user) {
            // A profile is made even if nothing is said about it; what it begins with is then all there is to record.
            object.events = [.userAttributesChanged(Self.initialState)]
            builder.expect(user, at: .noUser)
        }
        for event in object.events { try Self.add(event, object, to: user, &builder) }
        var events = object.events
        if let address = try address(of: user, object) {
            try builder.add(address, EventContext(source: .rest), to: user)
            builder.expect(user, at: .noUser)
            events.append(address)
        }
        if !events.isEmpty {
            known[user] = true
            addresses.add(events, of: user)
        }
        accept(object, array)
        for (field, reason) in object.dropped {
            dropped.append(TrackDrop(reason: reason, array: array, index: index, field: field))
        }
    }

    /// The user under whom an object about `user` is stored: who has the address, if it is one that somebody has.
    private mutating func storedUser(_ user: UserID) throws -> UserID {
        guard user.isAddress else { return user }
        if let owner = try addresses.user(user) {
            known[owner] = true
            return owner
        }
        if try exists(user), !outdated.contains(user) { outdated.append(user) }
        return user
    }

    /// The address by which `object` makes a user, as their attribute; nil if it makes none, or says so itself.
    private mutating func address(of user: UserID, _ object: TrackObject) throws -> ProfileEvent? {
        let changes: [UserAttributeChange]
        switch user {
        case .email(let address):
            changes = [.init(.email, .string(address)), .init(.emailSubscribe, .string("subscribed"))]
        case .phone(let number): changes = [.init(.phone, .string(number))]
        default: return nil
        }
        if try exists(user) { return nil }
        let saysSo = object.events.contains { event in
            guard case .userAttributesChanged(let said) = event else { return false }
            return said.contains { $0.attribute == changes[0].attribute }
        }
        return saysSo ? nil : .userAttributesChanged(changes)
    }

    private static func add(
        _ event: ProfileEvent, _ object: TrackObject, to user: UserID, _ builder: inout AppendBuilder
    ) throws {
        do {
            try builder.add(event, object.context, to: user)
        } catch {
            throw fault(error, isFirst: event == object.events.first)
        }
    }

    /// What the log has against an object's first event is the object's fault; an object is stored whole or not at all, so what it
    /// has against a later one ends the request.
    private static func fault(_ error: AppendError, isFirst: Bool) -> any Error {
        guard isFirst, case .invalid(let place, let reason) = error else { return error }
        return TrackFault.object("\(place) \(reason)")
    }

    private mutating func accept(_ object: TrackObject, _ array: TrackArray) {
        objects.append(object)
        processed[array, default: 0] += 1
    }

    private mutating func exists(_ user: UserID) throws -> Bool {
        if let known = known[user] { return known }
        let exists = try log.find(user) != nil
        known[user] = exists
        return exists
    }

    /// The subscription states of every new profile (spec/rest-api 3).
    private static let initialState: [UserAttributeChange] = [
        .init(.emailSubscribe, .string("subscribed")), .init(.pushSubscribe, .string("subscribed")),
    ]
}
