/// A path of the API that may have places for names, as in `/v1/devices/{device}/launch`.
enum PathTemplate {
    /// What `path` names at the places of `template`, decoded; nil if it is another path, or has a broken escape or no
    /// UTF-8 there.
    static func parameters(of path: String, as template: String) -> [String: String]? {
        if path == template, !template.utf8.contains(UInt8(ascii: "{")) { return [:] }
        let parts = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        let places = template.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard parts.count == places.count else { return nil }
        var parameters: [String: String] = [:]
        for (part, place) in zip(parts, places) {
            guard place.first == UInt8(ascii: "{") else {
                if part.elementsEqual(place) { continue }
                return nil
            }
            guard !part.isEmpty, let value = decoded(part) else { return nil }
            parameters[String(decoding: place.dropFirst().dropLast(), as: UTF8.self)] = value
        }
        return parameters
    }

    private static func decoded(_ text: Substring.UTF8View) -> String? {
        var bytes: [UInt8] = []
        var rest = text
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit) else {
                return nil
            }
            bytes.append(high << 4 | low)
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        Character(Unicode.Scalar(byte)).hexDigitValue.map { UInt8($0) }
    }
}

extension APIRequest {
    /// `name` as one part of a path: every byte that is not plain is `%XX`, a slash and a dot included.
    package static func pathPart(_ name: String) -> String {
        var part = ""
        for byte in name.utf8 {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                part.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                part += "%" + (digits.utf8.count == 1 ? "0" : "") + digits
            }
        }
        return part
    }
}
