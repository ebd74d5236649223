/// Numbers as people read them.
enum Number {
    /// `1234567` as `1,234,567`.
    static func grouped(_ number: UInt64) -> String {
        let digits = String(number)
        var text = ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index) % 3 == 0 { text.append(",") }
            text.append(digit)
        }
        return text
    }

    /// `1234567` as `1,234,567`.
    static func grouped(_ number: Int) -> String { (number < 0 ? "-" : "") + grouped(UInt64(number.magnitude)) }

    /// `1 event`, `2 events`.
    static func counted(_ number: UInt64, _ noun: String) -> String {
        "\(grouped(number)) \(noun)\(number == 1 ? "" : "s")"
    }

    /// A number of bytes with a unit: `12.3 MB`.
    static func bytes(_ count: UInt64) -> String {
        var value = Double(count)
        for unit in ["bytes", "kB", "MB", "GB"] {
            if value < 1000 { return unit == "bytes" ? "\(count) bytes" : "\(Double(Int(value * 10)) / 10) \(unit)" }
            value /= 1000
        }
        return "\(Double(Int(value * 10)) / 10) TB"
    }
}
