internal import ProfileLogRequests

/// `GET /v1/names`: names that begin with a text, for programs that complete what people type.
struct NameEndpoint {
    let store: RequestStore

    private static let mostNames = 1_000

    /// The kind of what has the name.
    private enum Kind: String, CaseIterable, Comparable {
        case event
        /// A custom attribute.
        case attribute
        /// An attribute that every store has.
        case userAttribute = "user_attribute"
        case product
        case device
        /// A declared in-app message.
        case message

        static func < (left: Kind, right: Kind) -> Bool { left.order < right.order }

        private var order: Int { Self.allCases.firstIndex(of: self) ?? 0 }
    }

    func names(_ request: APIRequest, _ log: LogReader) throws -> APIAnswer {
        var query = Query(request)
        let prefix = try query.text("prefix") ?? ""
        let kinds = try Self.kinds(query.all("kind"))
        let limit = try query.limit(standard: 100, most: Self.mostNames)
        try query.end()
        let found = try found(prefix, kinds, limit + 1, log)
        return try APIAnswer.ok { json in
            json.objects("names", found.prefix(limit)) { json, found in
                json.member("name", found.name.text)
                json.member("kind", found.kind.rawValue)
            }
            json.member("more", found.count > limit)
            try json.note(ListNote("names", request), isEmpty: found.isEmpty, in: log)
        }
    }

    /// The kinds that are asked for: all, if none is named.
    private static func kinds(_ texts: [String]) throws -> [Kind] {
        let words = texts.flatMap { $0.split(separator: ",").map(String.init) }
        if words.isEmpty { return Kind.allCases }
        let asked = try words.map { word in
            guard let kind = Kind(rawValue: word) else {
                let known = Kind.allCases.map(\.rawValue)
                throw APIError.invalid(
                    "kind", "must be a kind of names",
                    remedy: NearestNames(to: word, among: known).remedy("The kinds are"))
            }
            return kind
        }
        return Kind.allCases.filter(asked.contains)
    }

    /// The first `most` names, by their bytes; of one name by the order of kinds.
    private func found(
        _ prefix: String, _ kinds: [Kind], _ most: Int, _ log: LogReader
    ) throws -> [(name: Name, kind: Kind)] {
        var found: [(name: Name, kind: Kind)] = []
        func add(_ name: Name, _ kind: Kind) {
            // An erased name is empty.
            if !name.text.isEmpty, name.text.utf8.starts(with: prefix.utf8) { found.append((name, kind)) }
        }
        let names = log.names.current
        let isCatalogued = kinds.contains { [.event, .attribute, .product].contains($0) }
        let catalogue = isCatalogued ? try store.catalogue.state(in: log) : CatalogueProjection.initial
        for kind in kinds {
            switch kind {
            case .event: for name in catalogue.events.keys.compactMap(names.name) { add(name, kind) }
            case .attribute: for name in catalogue.attributes.keys.compactMap(names.name) { add(name, kind) }
            case .product: for name in catalogue.products.keys.compactMap(names.name) { add(name, kind) }
            case .userAttribute: for attribute in StandardAttribute.allCases { add(Name(attribute.name), kind) }
            case .device:
                for name in try log.identifiers.devices(beginningWith: prefix, limit: most) { add(name, kind) }
            case .message:
                let declared = try log.devices.declaredMessages().definitions
                for message in try InAppMessage.stored(declared, at: "messages").messages { add(message.id, kind) }
            }
        }
        let sorted = found.sorted { one, other in
            one.name == other.name ? one.kind < other.kind : one.name < other.name
        }
        return Array(sorted.prefix(most))
    }
}

// MARK: - The form of the answers

extension NameEndpoint {
    static let shape: AnswerShape = ["names": [["name": .text, "kind": .text]], "more": .boolean, "note?": .text]
}
