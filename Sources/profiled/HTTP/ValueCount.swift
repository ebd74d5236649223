/// How many values JSON holds, told without parsing it: one in a small body may cost fifty times its bytes in memory.
enum ValueCount {
    /// Values that one body may have.
    static let most = 500_000

    /// Whether `json` has more than `limit` values; counts commas and opening brackets that are no part of a string.
    static func exceeds(_ limit: Int, _ json: [UInt8]) -> Bool {
        if json.count <= limit { return false }
        var count = 1
        var isInString = false
        var isEscaped = false
        for byte in json {
            if isInString {
                if isEscaped {
                    isEscaped = false
                } else if byte == UInt8(ascii: "\\") {
                    isEscaped = true
                } else if byte == UInt8(ascii: "\"") {
                    isInString = false
                }
                continue
            }
            switch byte {
            case UInt8(ascii: "\""): isInString = true
            case UInt8(ascii: ","), UInt8(ascii: "["), UInt8(ascii: "{"): count += 1
            default: break
            }
        }
        return count > limit
    }
}
