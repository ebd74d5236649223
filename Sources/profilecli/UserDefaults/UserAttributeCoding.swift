internal import ArgumentParser
internal import ProfileLog

/// How extensions code a user attribute as data, in the language that each is written in.
///
/// | written by | coded as |
/// |---|---|
/// | the guide's Swift | `{"email": "a@b"}`; nil as `{"email": "$null"}`, by its newest edition as `{}` |
/// | Swift's own coding of an enum | `{"email": {"_0": "a@b"}}`; nil as `{"email": {}}` |
/// | the guide's Objective-C | a keyed archive of an object with `userField`, and `attributeType` 0 for email |
enum UserAttributeCoding {
    /// Whose coding is understood.
    enum Language: String, ExpressibleByArgument, CaseIterable {
        case auto, swift, objc
    }

    /// Reads `data`; a value of nil unsets.
    static func decode(
        _ data: [UInt8], _ language: Language
    ) throws(PropertyList.Misfit) -> (attribute: StandardAttribute, value: PropertyList?) {
        guard let list = try? PropertyList(data) else { throw .init(clause: "is data that codes no user attribute") }
        let isArchive = list[KeyedArchive.objects] != nil
        if isArchive, language == .swift { throw .init(clause: "is a keyed archive, which no app in Swift reads") }
        if !isArchive, language == .objc {
            throw .init(clause: "is no keyed archive, so no app in Objective-C reads it")
        }
        return isArchive ? try archived(list) : try coded(list)
    }

    /// As the guide's Swift code does, with further attributes as further cases.
    static func encode(_ attribute: StandardAttribute, _ value: PropertyList?) throws -> [UInt8] {
        let key = Name("\(attribute)")
        guard let value else {
            let none: [Name: PropertyList] = attribute == .email ? [:] : [key: .string(KeyedArchive.none)]
            return try PropertyList.dictionary(none).bytes(isXML: false)
        }
        return try PropertyList.dictionary([key: value]).bytes(isXML: false)
    }

    // MARK: - Swift

    private static func coded(
        _ list: PropertyList
    ) throws(PropertyList.Misfit) -> (attribute: StandardAttribute, value: PropertyList?) {
        guard case .dictionary(let members) = list, members.count <= 1 else {
            throw .init(clause: "is data that codes no user attribute")
        }
        // The newest edition leaves the key out if there is no address, and has no other case.
        guard let (key, payload) = members.first else { return (.email, nil) }
        guard let attribute = byCase[key] else { throw .init(clause: "codes \(key), which is no user attribute") }
        guard case .dictionary(let values) = payload else { return (attribute, given(payload)) }
        if values.count == 1, let value = values[payloadKey] { return (attribute, given(value)) }
        // A payload with a label has that for its key; only where the value is a dictionary itself is that not certain.
        if attribute.isDictionary { return (attribute, payload) }
        guard values.count <= 1 else { throw .init(clause: "codes several values of \(key)") }
        return (attribute, values.first.flatMap { given($0.value) })
    }

    /// What Swift calls a payload without a label.
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
        case let other?: throw .init(clause: "has a userField that is \(other.type), no text")
        }
    }
}

extension StandardAttribute {
    /// Whether its value is a dictionary.
    fileprivate var isDictionary: Bool {
        switch self {
        case .currentLocation, .facebook, .twitter: true
        default: false
        }
    }
}
