internal import ProfileLog

/// The idempotency key of a request that changes who is known by which ID.
///
/// Each item that was done is stored under a key of its own, made of this one and the item's place.
struct IdentityKey: Sendable {
    private let text: String
    /// Stands for the request: it is stored with each item.
    let note: [UInt8]

    /// Nil if the request has no key.
    init?(_ request: APIRequest) throws {
        guard let key = request.idempotencyKey else { return nil }
        if key.isEmpty { throw APIProblem.invalid("Idempotency-Key", "must not be empty") }
        text = key
        note = RequestNote(digest: RequestNote.digest(request), answer: []).bytes
    }

    /// The key of one item: as long whatever the request's key is.
    func key(of item: IdentityItem) -> String {
        "\(Hexadecimal.text(ContentHash.of(Array(text.utf8))))/\(item.array).\(item.index)"
    }

    /// Which of the request's `items` were done. Throws if the key stands for another request.
    func done(_ items: [IdentityItem], _ log: EventLog) throws -> [Bool] {
        if let earlier = try log.append(underKey: text) { throw AppendError.keyReused(position: earlier.first) }
        return try items.map { try wasDone($0, log) }
    }

    /// Whether `item` was done under this key. Throws if the key stands for another request.
    func wasDone(_ item: IdentityItem, _ log: EventLog) throws -> Bool {
        guard let earlier = try log.append(underKey: key(of: item)) else { return false }
        guard earlier.isErased || earlier.note == note else { throw AppendError.keyReused(position: earlier.first) }
        return true
    }
}
