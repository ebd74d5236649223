internal import ProfileLog

/// What Objective-C's `NSKeyedArchiver` writes: a list of objects that refer to each other by their index in it.
///
///     {"$archiver": "NSKeyedArchiver", "$version": 100000, "$top": {"root": →1},
///      "$objects": ["$null", {"$class": →3, "userField": →2, "attributeType": 0}, "a@b", {"$classname": …}]}
struct KeyedArchive {
    static let objects: Name = "$objects"
    /// What stands for no object, at index 0.
    static let none = "$null"

    private let objects: [PropertyList]
    /// The archived object.
    let root: PropertyList

    /// Nil if `list` is no keyed archive.
    init?(_ list: PropertyList) {
        guard case .array(let objects) = list[Self.objects], let top = list["$top"], let root = top["root"] else {
            return nil
        }
        self.objects = objects
        guard let object = Self.object(root, objects) else { return nil }
        self.root = object
    }

    /// The member `key` of the archived object, its reference followed; nil if it is missing or `$null`, or refers to
    /// nothing.
    subscript(key: Name) -> PropertyList? {
        guard let object = root[key].flatMap({ Self.object($0, objects) }), object != .string(Self.none) else {
            return nil
        }
        // Text that can be changed is an object around the text.
        return object["NS.string"] ?? object
    }

    private static func object(_ value: PropertyList, _ objects: [PropertyList]) -> PropertyList? {
        guard case .reference(let index) = value else { return value }
        return objects.indices.contains(index) ? objects[index] : nil
    }
}
