internal import ArgumentParser
internal import ProfileLog

/// The encoding of a user attribute as data, in the language that each extension is written in.
///
/// | written by | coded as |
/// |---|---|
/// | the guide's Swift | `{"email": "a@b"}`; nil as `{"email": "$null"}`, by its newest edition as `{}` |
/// | Swift's own coding of an enum | `{"email": {"_0": "a@b"}}`; nil as `{"email": {}}` |
/// | the guide's Objective-C | a keyed archive of an object with `userField`, and `attributeType` 0 for email |
enum UserAttributeCoding {
    enum Language: String, ExpressibleByArgument, CaseIterable {
        case auto, swift, objc
    }

    /// Reads `data`; a value of nil unsets.
    static func decode(
        _ data: [UInt8], _ language: Language
    ) throws(PropertyList.Misfit) -> (attribute: StandardAttribute, value: PropertyList?) {
        guard let list = try? PropertyList(data) else { throw .init(clause: "is data that codes no user attribute") }
        let isArchive = list[KeyedArchive.objects] != nil
        if isArchive, language == .swift { throw .init(clause: "is a keyed archive, which no Swift app reads") }
        if !isArchive, language == .objc {
            throw .init(clause: "is not a keyed archive, so no Objective-C app reads it")
        }
        return isArchive ? try archived(list) : try coded(list)
    }

    /// As the guide's Swift code does, with further attributes as further cases.
    static func encode(_ attribute: StandardAttribute, _ value: PropertyList?) throws -> [UInt8] {
        let value = value ?? (attribute == .email ? nil : .string(KeyedArchive.none))
        return try PropertyList.dictionary(value.map { [Name("\(attribute)"): $0] } ?? [:]).bytes(isXML: false)
    }

    // MARK: - Swift

    private static func coded(
        _ list: PropertyList
    ) throws(PropertyList.Misfit) -> (attribute: StandardAttribute, value: PropertyList?) {
        guard case .dictionary(let members) = list, members.count <= 1 else {
            throw .init(clause: "is data that codes no user attribute")
        }
        // The newest edition omits the key if there is no address, and has no other case.
        guard let (key, payload) = members.first else { return (.email, nil) }
        guard let attribute = byCase[key] else { throw .init(clause: "codes \(key), which is not a user attribute") }
        guard case .dictionary(let values) = payload else { return (attribute, given(payload)) }
        if values.count == 1, let value = values[payloadKey] { return (attribute, given(value)) }
        // A payload with a label has the label as its key, unless the value is a dictionary itself.
        if [.currentLocation, .facebook, .twitter].contains(attribute) { return (attribute, payload) }
        guard values.count <= 1 else { throw .init(clause: "codes several values of \(key)") }
        return (attribute, values.first.flatMap { given($0.value) })
    }

    /// Swift's name for a payload without a label.
    private static let payloadKey: Name = "_0"

    private static func given(_ payload: PropertyList) -> PropertyList? {
        payload == .string(KeyedArchive.none) ? nil : payload
    }

    /// Cases as people name them: as here, as on the wire, as in the SDK.
    private static let byCase: [Name: StandardAttribute] = {
        var byCase: [Name: StandardAttribute] = ["phoneNumber": .phone, "phone_number": .phone]
        for attribute in StandardAttribute.allCases {
            byCase[Name("\(attribute)")] = attribute
            byCase[Name(attribute.name)] = attribute
        }
        return byCase
    }()

    // MARK: - Objective-C

    private static func archived(
        _ list: PropertyList
    ) throws(PropertyList.Misfit) -> (attribute: StandardAttribute, value: PropertyList?) {
        guard let archive = KeyedArchive(list), case .dictionary = archive.root else {
            throw .init(clause: "is a keyed archive of no object")
        }
        switch archive["attributeType"] {
        case .integer(0): break
        case .integer(let type):
            throw .init(clause: "has the attributeType \(type); only 0, the e-mail address, is known")
        default: throw .init(clause: "is a keyed archive without attributeType")
        }
        switch archive["userField"] {
        case nil: return (.email, nil)
        case .string(let text): return (.email, .string(text))
        case let other?: throw .init(clause: "has a userField that is \(other.type), not text")
        }
    }
}

/// An archive as Objective-C's `NSKeyedArchiver` writes it: a list of objects that refer to each other by index.
///
///     {"$archiver": "NSKeyedArchiver", "$version": 100000, "$top": {"root": →1},
///      "$objects": ["$null", {"$class": →3, "userField": →2, "attributeType": 0}, "a@b", {"$classname": …}]}
struct KeyedArchive {
    static let objects: Name = "$objects"
    /// The text that means no object, at index 0.
    static let none = "$null"

    private let objects: [PropertyList]
    let root: PropertyList

    /// Returns nil if `list` is not a keyed archive.
    init?(_ list: PropertyList) {
        guard case .array(let objects) = list[Self.objects],
            let root = list["$top"]?["root"].flatMap({ Self.object($0, objects) })
        else { return nil }
        (self.objects, self.root) = (objects, root)
    }

    /// The member `key` of the archived object, its reference followed; nil if it is missing or `$null`.
    subscript(key: Name) -> PropertyList? {
        guard let object = root[key].flatMap({ Self.object($0, objects) }), object != .string(Self.none) else {
            return nil
        }
        // Mutable text is an object around the text.
        return object["NS.string"] ?? object
    }

    private static func object(_ value: PropertyList, _ objects: [PropertyList]) -> PropertyList? {
        guard case .reference(let index) = value else { return value }
        return objects.indices.contains(index) ? objects[index] : nil
    }
}
