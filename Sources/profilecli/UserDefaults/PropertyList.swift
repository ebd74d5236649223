internal import Foundation
internal import ProfileLog

/// A value of a property list, its type as the file has it.
enum PropertyList: Hashable {
    case bool(Bool)
    case integer(Int64)
    case real(Double)
    case string(String)
    case date(Timestamp)
    case data([UInt8])
    case array([PropertyList])
    case dictionary([Name: PropertyList])
    /// A keyed archive's reference to one of its objects.
    case reference(Int)
    /// A value that no profile can hold, in words.
    case other(String)

    /// The member `key` of a dictionary; nil if there is none, or if this is not a dictionary.
    subscript(key: Name) -> PropertyList? { if case .dictionary(let members) = self { members[key] } else { nil } }

    var type: String {
        switch self {
        case .bool: "a boolean"
        case .integer: "an integer"
        case .real: "a real"
        case .string: "a string"
        case .date: "a date"
        case .data: "data"
        case .array: "an array"
        case .dictionary: "a dictionary"
        case .reference: "a reference"
        case .other(let words): words
        }
    }
}

// MARK: - As bytes

extension PropertyList {
    /// The reason why bytes are not a property list that can be used.
    struct Unreadable: Error {
        /// They begin as a property list of this format, and are cut or damaged; nil if they are in none.
        let format: String?
    }

    init(_ bytes: [UInt8]) throws(Unreadable) {
        guard let object = Self.object(Data(bytes)) else {
            let begin = String(decoding: bytes.prefix(200), as: UTF8.self).drop { $0.isWhitespace || $0 == "\u{FEFF}" }
            let isXML = begin.hasPrefix("<?xml") || begin.hasPrefix("<") && begin.contains("plist")
            throw Unreadable(
                format: begin.hasPrefix("bplist") ? "a binary property list" : isXML ? "an XML property list" : nil)
        }
        let list = PropertyList(object)
        self = list[KeyedArchive.objects] == nil ? list : Self.readable(object).map(PropertyList.init) ?? list
    }

    func bytes(isXML: Bool) throws -> [UInt8] {
        Array(try PropertyListSerialization.data(fromPropertyList: object, format: isXML ? .xml : .binary, options: 0))
    }

    private static func object(_ data: Data) -> Any? {
        var format = PropertyListSerialization.PropertyListFormat.binary
        let object = try? PropertyListSerialization.propertyList(from: data, options: [], format: &format)
        // The oldest format accepts a file with a single word.
        return format == .openStep ? nil : object
    }

    private init(_ object: Any) {
        switch object {
        case let text as String: self = .string(text)
        case let bytes as Data: self = .data(Array(bytes))
        case let date as Date: self = Self.date(date)
        case let number as NSNumber: self = Self.number(number)
        case let values as [Any]: self = .array(values.map(PropertyList.init))
        case let members as [String: Any]:
            let values = Dictionary(members.map { (Name($0.key), PropertyList($0.value)) }) { $1 }
            if values.count == 1, case .integer(let index) = values[Name(Self.referenceKey)] {
                self = .reference(Int(index))
            } else {
                self = .dictionary(values)
            }
        default: self = .other("a value of a foreign type")
        }
    }

    /// Every number converts to every type, so its type letter decides: `c` and `B` are booleans, `d` and `f` reals.
    private static func number(_ number: NSNumber) -> PropertyList {
        switch String(cString: number.objCType) {
        case "c", "B": .bool(number.boolValue)
        case "d", "f":
            number.doubleValue.isFinite ? .real(number.doubleValue) : .other("a number that is not finite")
        case "Q" where number.uint64Value > Int64.max: .other("an integer of more than 64 bits")
        default: .integer(number.int64Value)
        }
    }

    private static let microsPerSecond = 1_000_000.0
    /// The seconds from the year 0 to the end of 9999: RFC 3339 can write no other times.
    private static let seconds = -62_167_219_200.0..<253_402_300_800.0

    private static func date(_ date: Date) -> PropertyList {
        guard seconds.contains(date.timeIntervalSince1970) else { return .other("a date outside the years 0 to 9999") }
        return .date(Timestamp(rawValue: Int64((date.timeIntervalSince1970 * microsPerSecond).rounded())))
    }

    private var object: Any {
        switch self {
        case .bool(let flag): return NSNumber(value: flag)
        case .integer(let number): return NSNumber(value: number)
        case .real(let number): return NSNumber(value: number)
        case .string(let text): return text
        case .date(let date): return Date(timeIntervalSince1970: Double(date.rawValue) / Self.microsPerSecond)
        case .data(let bytes): return Data(bytes)
        case .array(let values): return values.map(\.object)
        case .dictionary(let members): return Dictionary(members.map { ($0.key.text, $0.value.object) }) { $1 }
        case .reference, .other: preconditionFailure("Nothing makes \(type) to write it.")
        }
    }

    private static let referenceKey = "$reference"

    /// The keyed archive with its references as dictionaries of one key. Foundation reads references as opaque objects,
    /// so this renames their key in the XML. Text cannot contain that key, since XML escapes a `<`.
    private static func readable(_ archive: Any) -> Any? {
        guard let xml = try? PropertyListSerialization.data(fromPropertyList: archive, format: .xml, options: 0) else {
            return nil
        }
        let text = String(decoding: xml, as: UTF8.self)
            .replacing("<key>CF$UID</key>", with: "<key>\(referenceKey)</key>")
        return object(Data(text.utf8))
    }
}

// MARK: - As JSON

extension PropertyList {
    /// The reason why a value cannot become another: a clause that shows no value.
    struct Misfit: Error {
        var clause: String

        /// Runs `body`, and says in its error which value it was, as in `an attribute` and `level`.
        static func naming<Result>(
            _ noun: String, _ key: Name, _ body: () throws(Misfit) -> Result
        ) throws(Misfit) -> Result {
            do throws(Misfit) {
                return try body()
            } catch {
                throw Misfit(clause: "has \(noun) \(key) that \(error.clause)")
            }
        }
    }

    /// The key of a date in requests and answers.
    private static let time: Name = "$time"

    /// The value as requests carry it, with `{"$time": …}` for a date.
    func json(depth: Int = 1) throws(Misfit) -> AttributeValue {
        guard depth <= Limits.valueDepth else { throw Misfit(clause: "is nested deeper than \(Limits.valueDepth)") }
        switch self {
        case .bool(let flag): return .bool(flag)
        case .integer(let number): return .int(number)
        case .real(let number): return .double(number)
        case .string(let text): return .string(text)
        case .date(let date): return .object([.init(Self.time, .string(date.rfc3339()))])
        case .array(let values):
            return .array(try values.map { (value) throws(Misfit) in try value.json(depth: depth + 1) })
        case .dictionary(let members):
            if members.count == 1, members[Self.time] != nil {
                throw Misfit(clause: "holds a dictionary of $time alone, which is how a date is written here")
            }
            return .object(
                try members.sorted { $0.key < $1.key }.map { (member) throws(Misfit) in
                    .init(member.key, try member.value.json(depth: depth + 1))
                })
        case .data, .reference, .other: throw Misfit(clause: "holds \(type), which no profile can hold")
        }
    }

    /// The value that requests carry as `json`, its dates already read.
    init(_ json: AttributeValue) throws(Misfit) {
        switch json {
        case .null: throw Misfit(clause: "holds null, which no property list can hold")
        case .bool(let flag): self = .bool(flag)
        case .int(let number): self = .integer(number)
        case .double(let number): self = .real(number)
        case .string(let text): self = .string(text)
        case .date(let date): self = .date(date.timestamp)
        case .array(let values): self = .array(try values.map { (value) throws(Misfit) in try PropertyList(value) })
        case .object(let members):
            var values: [Name: PropertyList] = [:]
            for member in members { values[member.key] = try PropertyList(member.value) }
            self = .dictionary(values)
        }
    }
}

/// An app group's preferences file, `Library/Preferences/group….plist`.
struct PreferencesFile {
    /// No app's preferences are that large.
    private static let mostBytes = 64 << 20

    let path: String
    let members: [Name: PropertyList]
    let fingerprint: String

    var name: String { path.split(separator: "/").last.map(String.init) ?? path }

    init(path: String) throws {
        self.path = path
        let bytes = try NamedFile.bytes(
            path, atMost: Self.mostBytes, remedy: "Check the path and the permissions. \(Self.wanted)")
        fingerprint = Self.fingerprint(bytes)
        guard !bytes.isEmpty else {
            throw CommandError("The file \(path) is empty.", remedy: "Copy it from the device again.")
        }
        let list: PropertyList
        do throws(PropertyList.Unreadable) {
            list = try PropertyList(bytes)
        } catch {
            guard let format = error.format else {
                throw CommandError(
                    "The file \(path) is not a property list, neither binary nor XML.", remedy: Self.wanted)
            }
            throw CommandError(
                "The file \(path) is \(format) that was cut short or is damaged.",
                remedy: "Copy it from the device again.")
        }
        guard case .dictionary(let members) = list else {
            throw CommandError("The file \(path) holds \(list.type), not a dictionary of keys.", remedy: Self.wanted)
        }
        self.members = members
    }

    private static let wanted =
        "Name an app group's preferences, which a device keeps as Library/Preferences/APP_GROUP.plist."

    /// FNV-1a of 128 bits, in hexadecimal digits: it recognises a file, and need not resist an attack.
    private static func fingerprint(_ bytes: [UInt8]) -> String {
        let prime = UInt128(1) << 88 | 0x13B
        var hash: UInt128 = 0x6C62_272E_07BB_0142_62B8_2175_6295_C58D
        for byte in bytes { hash = (hash ^ UInt128(byte)) &* prime }
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 32 - digits.count) + digits
    }
}
