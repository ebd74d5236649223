internal import ProfileLog

/// The three lists of a preferences file, item by item.
struct PendingLists {
    /// An item as content of a save.
    struct Item {
        var kind: PendingKind
        /// Its index in its list, from 0.
        var index: Int
        /// What the body of the request says apart from device, storage and user.
        var content: [AttributeValue.Member]

        /// Its place in the file: `pending_custom_events[2]`.
        var place: String { "\(kind.key)[\(index)]" }
    }

    /// An item, or a whole list, that cannot be saved.
    struct Refusal {
        var kind: PendingKind
        /// Nil for a whole list.
        var index: Int?
        /// A clause that names keys and shows no values.
        var reason: String

        /// Its place in the file: `pending_custom_events[2]`.
        var place: String { kind.key + (index.map { "[\($0)]" } ?? "") }
    }

    /// In the order of the flush: all of one list, then the next.
    private(set) var items: [Item] = []
    /// What is in the lists and cannot be saved.
    private(set) var refusals: [Refusal] = []
    /// Notes on items that are imported as they are.
    private(set) var remarks: [String] = []
    /// The file's other keys, in order.
    let otherKeys: [Name]

    /// Reads the dictionary that is the whole file.
    init(_ members: [Name: PropertyList], _ language: UserAttributeCoding.Language) {
        let keys = Set(PendingKind.allCases.map { Name($0.key) })
        otherKeys = members.keys.filter { !keys.contains($0) }.sorted()
        for kind in PendingKind.allCases {
            guard let list = members[Name(kind.key)] else { continue }
            guard case .array(let entries) = list else {
                refusals.append(Refusal(kind: kind, index: nil, reason: "is \(list.type), not an array"))
                continue
            }
            for (index, entry) in entries.enumerated() { read(entry, kind, index, language) }
        }
    }

    private mutating func read(
        _ entry: PropertyList, _ kind: PendingKind, _ index: Int, _ language: UserAttributeCoding.Language
    ) {
        do throws(PropertyList.Misfit) {
            let content =
                switch kind {
                case .customEvents: try Self.event(entry)
                case .customAttributes: try Self.attributes(entry)
                case .userAttributes: try Self.userAttribute(entry, language)
                }
            let item = Item(kind: kind, index: index, content: content)
            if kind == .customAttributes, entry[Self.eventName] != nil {
                remarks.append(
                    "\(item.place) has an attribute event_name: a published Objective-C snippet saves events there, "
                        + "and its app sets their parts as attributes. This import does the same.")
            }
            items.append(item)
        } catch {
            refusals.append(Refusal(kind: kind, index: index, reason: error.clause))
        }
    }

    // MARK: - Entries

    static let eventName: Name = "event_name"
    /// A word of the API where the name of an attribute is expected.
    private static let mergeObjects: Name = "_merge_objects"
    private static let set: Name = "$set"

    private static func event(_ entry: PropertyList) throws(PropertyList.Misfit) -> [AttributeValue.Member] {
        var properties = try dictionary(entry)
        guard let name = properties.removeValue(forKey: eventName) else { throw .init(clause: "has no event_name") }
        guard case .string(let name) = name else {
            throw .init(clause: "has an event_name that is \(name.type), not text")
        }
        let members = try members(properties, "a property")
        let content = AttributeValue.Member("name", .string(name))
        return members.isEmpty ? [content] : [content, .init("properties", .object(members))]
    }

    private static func attributes(_ entry: PropertyList) throws(PropertyList.Misfit) -> [AttributeValue.Member] {
        let attributes = try dictionary(entry)
        if attributes.isEmpty { throw .init(clause: "is an empty dictionary") }
        if attributes[mergeObjects] != nil {
            throw .init(clause: "has an attribute _merge_objects, which cannot be a name here")
        }
        let members = try members(attributes, "an attribute").map { member in
            // Without `$set`, a dictionary could be read as an operation.
            guard case .object = member.value else { return member }
            return .init(member.key, .object([.init(set, member.value)]))
        }
        return [.init("attributes", .object(members))]
    }

    private static func userAttribute(
        _ entry: PropertyList, _ language: UserAttributeCoding.Language
    ) throws(PropertyList.Misfit) -> [AttributeValue.Member] {
        guard case .data(let bytes) = entry else { throw .init(clause: "is \(entry.type), where data is expected") }
        let (attribute, value) = try UserAttributeCoding.decode(bytes, language)
        return [.init("attribute", .string(attribute.name)), .init("value", try value?.json() ?? .null)]
    }

    private static func dictionary(_ entry: PropertyList) throws(PropertyList.Misfit) -> [Name: PropertyList] {
        guard case .dictionary(let members) = entry else {
            throw .init(clause: "is \(entry.type), where a dictionary is expected")
        }
        return members
    }

    /// In ascending order of keys.
    private static func members(
        _ values: [Name: PropertyList], _ noun: String
    ) throws(PropertyList.Misfit) -> [AttributeValue.Member] {
        try values.sorted { $0.key < $1.key }.map { (key, value) throws(PropertyList.Misfit) in
            do throws(PropertyList.Misfit) {
                return .init(key, try value.json())
            } catch {
                throw .init(clause: "has \(noun) \(key) that \(error.clause)")
            }
        }
    }
}
