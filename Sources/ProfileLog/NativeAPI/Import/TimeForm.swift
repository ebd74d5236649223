internal import Foundation
internal import ProfileLogRequests

/// The form of times in a column of an import, where it is not ProfileLog's: `dd/mm/yyyy hh:mm`, `epoch_ms`.
package struct TimeForm: Hashable, Sendable {
    private enum Form: Hashable, Sendable {
        /// Forms that the reader of times takes.
        case standard
        /// Units since 1970, of so many microseconds each; 0 if the size of the number tells.
        case epoch(micros: Double)
        case pattern([Token])
    }

    private enum Token: Hashable, Sendable {
        case year(digits: Int), month, monthName, day, hour, minute, second, fraction, halfDay
        case literal(UInt8)
    }

    private var form = Form.standard
    private var zone: TimeZone?

    package init() {}

    /// The words of `format`.
    static let words = [
        "dd/mm/yyyy", "mm/dd/yyyy", "dd.mm.yyyy hh:mm:ss", "yyyymmdd", "dd-mmm-yy", "mm/dd/yyyy hh:mm am", "iso",
        "epoch",
        "epoch_s", "epoch_ms", "epoch_us",
    ]

    /// Reads a `format` and the `zone` of times that have none; nil if one of them means nothing.
    package init?(format: String, zone: String? = nil) {
        if let zone {
            guard let known = Self.zone(zone) else { return nil }
            self.zone = known
        }
        switch format.lowercased() {
        case "iso": form = .standard
        case "epoch": form = .epoch(micros: 0)
        case "epoch_s": form = .epoch(micros: 1_000_000)
        case "epoch_ms": form = .epoch(micros: 1_000)
        case "epoch_us": form = .epoch(micros: 1)
        case let pattern:
            guard let tokens = Self.tokens(pattern) else { return nil }
            form = .pattern(tokens)
        }
    }

    private static func zone(_ text: String) -> TimeZone? {
        if let time = OccurredAt(iso8601: "2000-01-01T00:00:00" + text) {
            return TimeZone(secondsFromGMT: Int(time.utcOffsetMinutes) * 60)
        }
        return text.contains("/") ? TimeZone(identifier: text) : nil
    }

    /// `yyyy`, `yy`, `mm` (minutes after hours, else the month), `mmm`, `dd`, `hh`, `ss`, `sss`, `am`, and signs.
    private static func tokens(_ pattern: String) -> [Token]? {
        var tokens: [Token] = []
        var rest = Array(pattern.utf8)[...]
        while let letter = rest.first {
            let run = rest.prefix { $0 == letter }.count
            if rest.starts(with: "am".utf8) {
                tokens.append(.halfDay)
                rest = rest.dropFirst(2)
                continue
            }
            switch (letter, run) {
            case (UInt8(ascii: "y"), 2), (UInt8(ascii: "y"), 4): tokens.append(.year(digits: run))
            case (UInt8(ascii: "m"), 3): tokens.append(.monthName)
            case (UInt8(ascii: "m"), 1...2): tokens.append(tokens.contains(.hour) ? .minute : .month)
            case (UInt8(ascii: "d"), 1...2): tokens.append(.day)
            case (UInt8(ascii: "h"), 1...2): tokens.append(.hour)
            case (UInt8(ascii: "s"), 1...2) where !tokens.contains(.second): tokens.append(.second)
            case (UInt8(ascii: "s"), 1...6): tokens.append(.fraction)
            case (UInt8(ascii: "t"), 1), (UInt8(ascii: "z"), 1), (0x20...0x40, _):
                if UInt8(ascii: "0")...UInt8(ascii: "9") ~= letter { return nil }
                tokens += Array(repeating: Token.literal(letter), count: run)
            default: return nil
            }
            rest = rest.dropFirst(run)
        }
        let months = tokens.count { $0 == .month || $0 == .monthName }
        let years = tokens.count { if case .year = $0 { true } else { false } }
        guard years == 1, months == 1, tokens.count(where: { $0 == .day }) == 1 else { return nil }
        return tokens
    }

    /// `value` as text that the reader of times takes; nil if it has another form. What is in the standard form stays.
    package func text(_ value: AttributeValue) -> String? {
        switch (form, value) {
        case (.standard, .string(let text)):
            // Whether the day or the month comes first, only a format can say.
            guard text.utf8.prefix(4).allSatisfy({ 48...57 ~= $0 }) else { return nil }
            guard let zone else { return text }
            let wall = OccurredAt(iso8601: text + "Z") ?? OccurredAt(iso8601: text + "T00:00:00Z")
            return wall.map { Self.text($0.timestamp.rawValue, in: zone) } ?? text
        case (.standard, _): return nil
        case (.epoch(let unit), .int(let number)): return Self.epoch(Double(number), unit)
        case (.epoch(let unit), .double(let number)): return Self.epoch(number, unit)
        case (.epoch(let unit), .string(let text)): return Double(text).flatMap { Self.epoch($0, unit) }
        case (.pattern(let tokens), .string(let text)): return read(text, tokens)
        case (.pattern(let tokens), .int(let number)): return read("\(number)", tokens)
        default: return nil
        }
    }

    private static func epoch(_ number: Double, _ unit: Double) -> String? {
        guard number.isFinite else { return nil }
        var unit = unit
        if unit == 0 {
            unit =
                switch abs(number) {
                case ..<1e11: 1_000_000
                case ..<1e14: 1_000
                default: 1
                }
        }
        let micros = (number * unit).rounded()
        guard abs(micros) < 2.5e17 else { return nil }
        return Timestamp(rawValue: Int64(micros)).rfc3339()
    }

    private static func text(_ wall: Int64, in zone: TimeZone) -> String {
        func offset(_ micros: Int64) -> Int {
            zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(micros) / 1_000_000))
        }
        // The first offset may be that of the other side of a change of the clocks.
        let seconds = offset(wall - Int64(offset(wall)) * 1_000_000)
        return Timestamp(rawValue: wall - Int64(seconds) * 1_000_000).rfc3339(utcOffsetMinutes: Int32(seconds / 60))
    }

    private static let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]

    private func read(_ text: String, _ tokens: [Token]) -> String? {
        var rest = Array(text.lowercased().utf8)[...]
        var (year, month, day, hour, minute, second, micros) = (0, 0, 0, 0, 0, 0, 0)
        var isAfternoon: Bool?
        func number(_ most: Int, exactly: Bool = false) -> Int? {
            let digits = rest.prefix(most).prefix { 48...57 ~= $0 }
            guard !digits.isEmpty, !exactly || digits.count == most else { return nil }
            rest = rest.dropFirst(digits.count)
            return digits.reduce(0) { $0 * 10 + Int($1 - 48) }
        }
        func take(_ field: inout Int) -> Bool {
            guard let value = number(2) else { return false }
            field = value
            return true
        }
        for token in tokens {
            switch token {
            case .year(let digits):
                guard let value = number(digits, exactly: true) else { return nil }
                year = digits == 4 ? value : value < 70 ? 2000 + value : 1900 + value
            case .month: guard take(&month) else { return nil }
            case .monthName:
                let name = String(decoding: rest.prefix(3), as: UTF8.self)
                guard let place = Self.months.firstIndex(of: name) else { return nil }
                month = place + 1
                // Also in full.
                rest = rest.drop { UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 }
            case .day: guard take(&day) else { return nil }
            case .hour: guard take(&hour) else { return nil }
            case .minute: guard take(&minute) else { return nil }
            case .second: guard take(&second) else { return nil }
            case .fraction:
                let digits = rest.prefix { 48...57 ~= $0 }
                guard !digits.isEmpty else { return nil }
                micros = (Array(digits) + Array(repeating: 48, count: 6)).prefix(6).reduce(0) { $0 * 10 + Int($1 - 48) }
                rest = rest.dropFirst(digits.count)
            case .halfDay:
                guard let word = rest.first, rest.dropFirst().first == UInt8(ascii: "m"),
                    word == UInt8(ascii: "a") || word == UInt8(ascii: "p")
                else { return nil }
                isAfternoon = word == UInt8(ascii: "p")
                rest = rest.dropFirst(2)
            case .literal(let byte):
                guard rest.first == byte else { return nil }
                rest = rest.dropFirst()
            }
        }
        if let isAfternoon {
            guard 1...12 ~= hour else { return nil }
            hour = hour % 12 + (isAfternoon ? 12 : 0)
        }
        guard rest.isEmpty else { return nil }
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let padding = String(repeating: "0", count: max(0, 4 - "\(year)".utf8.count))
        let iso = "\(padding)\(year)-\(two(month))-\(two(day))T\(two(hour)):\(two(minute)):\(two(second))Z"
        guard let wall = OccurredAt(iso8601: iso)?.timestamp.rawValue else { return nil }
        return Self.text(wall + Int64(micros), in: zone ?? .gmt)
    }
}
