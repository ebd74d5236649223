internal import Foundation
internal import ProfileLog

/// Why bytes are no property list that can be used.
enum PropertyListError: Error {
    /// They are in neither of the two formats.
    case foreign
    /// They begin as a property list of this format, and end too early or are damaged.
    case damaged(format: String)
}

extension PropertyList {
    /// Reads `bytes`, binary or XML.
    init(_ bytes: [UInt8]) throws(PropertyListError) {
        guard let object = Self.object(Data(bytes)) else {
            let begin = String(decoding: bytes.prefix(200), as: UTF8.self).drop { $0.isWhitespace || $0 == "\u{FEFF}" }
            if begin.hasPrefix("bplist") { throw .damaged(format: "a binary property list") }
            let isXML = begin.hasPrefix("<plist") || (begin.hasPrefix("<") && begin.contains("plist"))
            if isXML || begin.hasPrefix("<?xml") { throw .damaged(format: "an XML property list") }
            throw .foreign
        }
        let list = PropertyList(object)
        self = list[KeyedArchive.objects] == nil ? list : Self.readable(object).map(PropertyList.init) ?? list
    }

    /// As a file or as data.
    func bytes(isXML: Bool) throws -> [UInt8] {
        Array(try PropertyListSerialization.data(fromPropertyList: object, format: isXML ? .xml : .binary, options: 0))
    }

    private static func object(_ data: Data) -> Any? {
        var format = PropertyListSerialization.PropertyListFormat.binary
        let object = try? PropertyListSerialization.propertyList(from: data, options: [], format: &format)
        // The oldest format has text alone, and takes a file with a single word for a property list.
        return format == .openStep ? nil : object
    }

    // MARK: - From Foundation's objects

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

    /// Every number converts to every type, so the type is asked for by its letter: `c` and `B` are booleans, `d` and
    /// `f` reals.
    private static func number(_ number: NSNumber) -> PropertyList {
        switch String(cString: number.objCType) {
        case "c", "B": return .bool(number.boolValue)
        case "d", "f":
            return number.doubleValue.isFinite ? .real(number.doubleValue) : .other("a number that is not finite")
        case "Q" where number.uint64Value > Int64.max: return .other("an integer of more than 64 bits")
        default: return .integer(number.int64Value)
        }
    }

    private static let microsPerSecond = 1_000_000.0
    /// From the year 0 to the end of 9999, which is as far as times can be written.
    private static let seconds = -62_167_219_200.0..<253_402_300_800.0

    private static func date(_ date: Date) -> PropertyList {
        guard seconds.contains(date.timeIntervalSince1970) else { return .other("a date outside the years 0 to 9999") }
        return .date(Timestamp(rawValue: Int64((date.timeIntervalSince1970 * microsPerSecond).rounded())))
    }

    // MARK: - To Foundation's objects

    private var object: Any {
        switch self {
        case .bool(let flag): return NSNumber(value: flag)
        case .integer(let number): return NSNumber(value: number)
        case .real(let number): return NSNumber(value: number)
        case .string(let text): return text
        case .date(let date): return Date(timeIntervalSince1970: Double(date.rawValue) / Self.microsPerSecond)
        case .data(let bytes): return Data(bytes)
        case .array(let values): return values.map(\.object)
        case .dictionary(let members):
            return Dictionary(members.map { ($0.key.text, $0.value.object) }) { $1 }
        case .reference, .other: preconditionFailure("only values that were written can be: \(type)")
        }
    }

    // MARK: - References of keyed archives

    private static let referenceKey = "$reference"
    private static let hiddenKey = "CF$UID"

    /// The archive with its references as dictionaries of one key.
    ///
    /// The objects that Foundation makes of references tell nothing. Their XML does, under a key of which Foundation
    /// makes such objects again; so it gets another. No text is mistaken for the key, since XML escapes a `<` in text.
    private static func readable(_ archive: Any) -> Any? {
        guard let xml = try? PropertyListSerialization.data(fromPropertyList: archive, format: .xml, options: 0) else {
            return nil
        }
        let text = String(decoding: xml, as: UTF8.self)
            .replacing("<key>\(hiddenKey)</key>", with: "<key>\(referenceKey)</key>")
        return object(Data(text.utf8))
    }
}
