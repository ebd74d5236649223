/// A search for identifiers and addresses that begin with a text, in the order of their bytes or against it.
///
/// ```
/// ana               every kind: external IDs, aliases by their names, addresses, devices, a braze_id
/// email:ana@        addresses alone; likewise phone:, device: and braze:
/// alias:crm:47      aliases with this label; alias:cr finds labels
/// id:email:x        external IDs alone
/// ```
///
/// Case counts as it is stored, but not in addresses: these are compared in their normal form (`ContactKey`).
package struct IdentifierSearch: Sendable {
    /// Tells whether the last one comes first.
    package let isReversed: Bool
    /// The bytes with which the text of each kind begins, by the kind's number; nil for kinds that are not searched.
    private var beginnings = [[UInt8]?](repeating: nil, count: IdentifierKind.allCases.count + 1)
    private(set) var labels = Labels.all
    /// The ID that is written in place of a beginning, if it is too long for a place in the order of keys.
    private(set) var longID: UserID?

    /// The labels of aliases that are searched.
    enum Labels: Sendable {
        case all
        case one([UInt8])
        case beginning([UInt8])
    }

    /// Reads `text` as a USER is written, as far as it is there.
    package init(_ text: String, isReversed: Bool = false) {
        self.isReversed = isReversed
        let id = UserID(text)
        if let key = KeyCoding.identifier(id), key[0] & 0x80 != 0 {
            longID = id
            return
        }
        switch id {
        case .alias(let label, let name):
            labels = .one(Array(label.utf8))
            self[.alias] = Array(name.utf8)
        case .email(let address): self[.email] = Self.normal(.email(address))
        case .phone(let number): if Self.mayBeNumber(number) { self[.phone] = Self.normal(.phone(number)) }
        case .assignedID(let digits):
            if Self.mayBeBrazeID(digits) { self[.assignedID] = Array(digits.lowercased().utf8) }
        case .device(let device): self[.device] = Array(device.utf8)
        case .externalID(let external) where text.utf8.starts(with: "id:".utf8):
            self[.externalID] = Array(external.utf8)
        case .externalID where text.utf8.starts(with: "alias:".utf8):
            // A label without its end.
            guard case .alias(let label, _) = UserID(text + ":") else { return }
            labels = .beginning(Array(label.utf8))
            self[.alias] = []
        case .externalID: searchAll(text)
        }
    }

    /// A search for devices alone.
    init(devices text: String) {
        isReversed = false
        self[.device] = Array(text.utf8)
    }

    private mutating func searchAll(_ text: String) {
        for kind in [IdentifierKind.externalID, .alias, .device] { self[kind] = Array(text.utf8) }
        self[.email] = Self.normal(.email(text))
        let digits = Self.normal(.phone(text)) ?? []
        if text.isEmpty || (Self.mayBeNumber(text) && !digits.isEmpty) { self[.phone] = digits }
        // The first eight digits are the same for all users of a store.
        if text.utf8.count > 8, Self.mayBeBrazeID(text) { self[.assignedID] = Array(text.lowercased().utf8) }
    }

    private subscript(kind: IdentifierKind) -> [UInt8]? {
        get { beginnings[Int(kind.rawValue)] }
        set { beginnings[Int(kind.rawValue)] = newValue }
    }

    /// The normal form of an address; nil if it is too long for a place in the order of keys.
    fileprivate static func normal(_ address: UserID) -> [UInt8]? {
        guard let prefix = ContactKey.prefix(address), prefix[0] & 0x80 == 0 else { return nil }
        return Array(prefix.dropFirst(2))
    }

    private static func mayBeNumber(_ text: String) -> Bool {
        text.utf8.allSatisfy { (0x30...0x39).contains($0) || " +-()./".utf8.contains($0) }
    }

    private static func mayBeBrazeID(_ text: String) -> Bool {
        text.utf8.count <= 24
            && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0 | 0x20) }
    }

    // MARK: - Matches

    /// The bytes with which the text of an identifier of this kind begins; nil if the kind is not searched.
    func beginning(_ kind: IdentifierKind) -> [UInt8]? { self[kind] }

    func accepts(label: UnsafeRawBufferPointer) -> Bool {
        switch labels {
        case .all: true
        case .one(let wanted): wanted.withUnsafeBytes { label.hasSameBytes(as: $0) }
        case .beginning(let wanted): label.begins(with: wanted)
        }
    }

    /// Tells whether the search comes to this place.
    package func includes(_ place: IdentifierPlace) -> Bool {
        guard let beginning = self[place.kind] else { return false }
        return place.text.starts(with: beginning)
            && (place.kind != .alias || place.label.withUnsafeBytes { accepts(label: $0) })
    }

    /// Tells whether the search comes to `place` before it comes to `other`.
    func precedes(_ place: IdentifierPlace, _ other: IdentifierPlace) -> Bool {
        isReversed ? other < place : place < other
    }
}

/// The place of an identifier in the order of a search: by the bytes of its text, then by its kind, and by the label of
/// an alias or the user of an address.
package struct IdentifierPlace: Hashable, Comparable, Sendable {
    /// The text: of an alias its name, of an address its normal form.
    let text: [UInt8]
    let kind: IdentifierKind
    /// The label of an alias; empty for other kinds.
    let label: [UInt8]
    /// The number of the user with an address; 0 for other kinds, which have one user, and for all users of it.
    var user: UInt64

    init(_ kind: IdentifierKind, _ text: [UInt8], label: [UInt8] = [], user: UInt64 = 0) {
        (self.kind, self.text, self.label, self.user) = (kind, text, label, user)
    }

    package static func < (left: IdentifierPlace, right: IdentifierPlace) -> Bool {
        let order = left.text.order(to: right.text)
        if order != 0 { return order < 0 }
        if left.kind != right.kind { return left.kind < right.kind }
        let labels = left.label.order(to: right.label)
        return labels != 0 ? labels < 0 : left.user < right.user
    }

    /// Tells whether both are of one identifier, for any user.
    func isSameIdentifier(as other: IdentifierPlace) -> Bool {
        kind == other.kind && text == other.text && label == other.label
    }

    /// The identifier at this place.
    var id: UserID {
        let text = String(decoding: text, as: UTF8.self)
        return switch kind {
        case .externalID: .externalID(text)
        case .alias: .alias(label: String(decoding: label, as: UTF8.self), name: text)
        case .assignedID: .assignedID(text)
        case .email: .email(text)
        case .phone: .phone(text)
        case .device: .device(text)
        }
    }

    /// The text for a place that a caller keeps: the number of the user, a slash, and the identifier as a USER is
    /// written.
    package var cursor: String { "\(user)/\(id)" }

    /// Reads what `cursor` has given; nil for another text.
    package init?(cursor: String) {
        guard let slash = cursor.utf8.firstIndex(of: UInt8(ascii: "/")), let user = UInt64(cursor[..<slash]) else {
            return nil
        }
        switch UserID(String(cursor[cursor.utf8.index(after: slash)...])) {
        case .alias(let label, let name): self.init(.alias, Array(name.utf8), label: Array(label.utf8), user: user)
        case let id where id.kind.isAddress:
            guard let text = IdentifierSearch.normal(id) else { return nil }
            self.init(id.kind, text, user: user)
        case let id: self.init(id.kind, Array(id.parts[0].utf8), user: user)
        }
    }
}

extension [UInt8] {
    /// As `UnsafeRawBufferPointer.order(to:)`.
    fileprivate func order(to other: [UInt8]) -> Int {
        withUnsafeBytes { left in other.withUnsafeBytes { left.order(to: $0) } }
    }
}

extension UnsafeRawBufferPointer {
    /// Tells whether these bytes begin with all of `beginning`.
    func begins(with beginning: [UInt8]) -> Bool {
        guard count >= beginning.count else { return false }
        return beginning.withUnsafeBytes { slice(0..<beginning.count).hasSameBytes(as: $0) }
    }
}
