extension OccurredAt {
    /// Reads a time of RFC 3339 or ISO 8601 that has a date; nil for anything else.
    ///
    /// | form | for example |
    /// |---|---|
    /// | extended | `2026-01-31T23:59:59.123456Z`, `2026-01-31 23:59` |
    /// | basic | `20260131T235959Z` |
    /// | fraction | `.5`, `,123456789` |
    /// | zone | `Z`, `+05:30`, `+0530`, `+05`, ` -0500`, ` UTC` |
    /// | day | `2026-01-31`, `20260131` |
    ///
    /// A time follows `T`, `t` or a space (basic: `T` or `t`); its seconds are optional. A fraction has any number of
    /// digits, cut to microseconds. A zone is at most 23:59, with an optional space before it; without one the time is
    /// UTC, as it is with `UT`, `UTC` and `GMT`. A day alone is its midnight in UTC.
    ///
    /// Letters are read in either case. Years are those of four digits, 0000 to 9999; the caller decides whether a year
    /// is plausible. 24:00 is midnight of the next day, and a second 60 the first of the next minute, unless that is of
    /// the year 10000. Week dates, ordinal dates and white space around the text are refused, and so is every day that
    /// does not begin with the year: `01/02/2026` is another day in America than in Europe.
    public init?(iso8601 text: String) { self.init(text, .iso) }

    /// Reads the forms of Braze's endpoints (spec/rest-api 1.7): those of ``init(iso8601:)``, and
    ///
    /// | form | for example |
    /// |---|---|
    /// | American day | `01/31/2026`, `1/31/2026`, `1-31-2026` |
    /// | milliseconds after a colon | `2026-01-31T23:59:59:123Z` |
    /// | zone by name | `PST`, `CEST` |
    /// | zone of three digits | `+5:30` |
    /// | words | `Sat 01 31 23:59:59.-0500 2026` |
    ///
    /// Names of zones are the American ones of RFC 822 (`EST`, `EDT` to `PST`, `PDT`), `CET` and `CEST`; others are
    /// refused, since several have more than one meaning. A day of eight digits is none: in this format it is a number.
    ///
    /// `words` is Braze's `ddd MM dd HH:mm:ss.TZD YYYY`, whose meaning no document defines. Here `ddd` is the English
    /// weekday in three letters and must be that of the date; `MM` is the month, in two digits or three English
    /// letters; the time may have a fraction; `.TZD` is a zone as above after a point or a space, and may be missing.
    package init?(braze text: String) { self.init(text, .braze) }

    private init?(_ text: String, _ forms: TimestampScanner.Forms) {
        guard
            let value = text.utf8.span.withUnsafeBufferPointer({ bytes in
                var scanner = TimestampScanner(bytes, forms)
                return scanner.moment()
            })
        else { return nil }
        self = value
    }
}

extension Timestamp {
    /// Reads the forms of ``OccurredAt/init(iso8601:)``; nil for anything else.
    ///
    /// ```swift
    /// let monday = Timestamp(iso8601: "2026-03-02T12:00:00Z")
    /// ```
    public init?(iso8601 text: String) {
        guard let read = OccurredAt(iso8601: text) else { return nil }
        self = read.timestamp
    }
}

/// Reads the forms that `OccurredAt(iso8601:)` and `OccurredAt(braze:)` list.
///
/// Each part gives nil if the text at `next` is something else. No form is tried twice: the number of leading digits
/// decides the form.
struct TimestampScanner {
    enum Forms { case iso, braze }

    private let bytes: UnsafeBufferPointer<UInt8>
    private let forms: Forms
    private var next = 0

    init(_ bytes: UnsafeBufferPointer<UInt8>, _ forms: Forms) { (self.bytes, self.forms) = (bytes, forms) }

    /// The moment that the whole text is.
    mutating func moment() -> OccurredAt? {
        guard bytes.count >= 8, let first = peek() else { return nil }
        let isYearFirst = Self.isDigit(first) && Self.isDigit(bytes[1]) && Self.isDigit(bytes[2])
        if isYearFirst || forms == .iso { return isoMoment() }
        return Self.isDigit(first) ? americanDay() : momentInWords()
    }

    private mutating func isoMoment() -> OccurredAt? {
        guard let year = number(digits: 4) else { return nil }
        let isBasic = peek() != UInt8(ascii: "-")
        guard isBasic || skip("-"), let month = number(digits: 2), isBasic || skip("-"), let day = number(digits: 2),
            let date = CivilDate(year: year, month: month, day: day)
        else { return nil }
        // In Braze's format any text may turn out to be a time, and this one looks like a plain number.
        if isAtEnd, !isBasic || forms == .iso { return Self.moment(date, microsOfDay: 0, offset: 0) }
        guard skip("T") || skip("t") || !isBasic && skip(" "), let micros = timeOfDay(isBasic: isBasic),
            let offset = trailingZone(), isAtEnd
        else { return nil }
        return Self.moment(date, microsOfDay: micros, offset: offset)
    }

    private mutating func americanDay() -> OccurredAt? {
        guard let month = oneOrTwoDigits(), let separator = peek(),
            separator == UInt8(ascii: "/") || separator == UInt8(ascii: "-")
        else { return nil }
        next += 1
        guard let day = oneOrTwoDigits(), peek() == separator else { return nil }
        next += 1
        guard let year = number(digits: 4), isAtEnd, let date = CivilDate(year: year, month: month, day: day) else {
            return nil
        }
        return Self.moment(date, microsOfDay: 0, offset: 0)
    }

    private mutating func momentInWords() -> OccurredAt? {
        guard let weekday = word(of: "sunmontuewedthufrisat"), skip(" "), let month = monthNumberOrName(), skip(" "),
            let day = oneOrTwoDigits(), skip(" "), let micros = timeOfDay(), let offset = zoneBeforeYear(), skip(" "),
            let year = number(digits: 4), isAtEnd, let date = CivilDate(year: year, month: month, day: day),
            date.weekday == weekday
        else { return nil }
        return Self.moment(date, microsOfDay: micros, offset: offset)
    }

    private static func moment(_ date: CivilDate, microsOfDay: Int, offset: Int) -> OccurredAt? {
        let micros = date.daysSince1970 * 86_400_000_000 + microsOfDay - offset * 60_000_000
        let moment = OccurredAt(Timestamp(rawValue: Int64(micros)), utcOffsetMinutes: Int32(offset))
        // The midnight at the end of the year 9999 belongs to a year without text.
        return moment.isExpressible ? moment : nil
    }
}

extension TimestampScanner {
    /// Hours, minutes and perhaps seconds with a fraction, in microseconds; those of the next midnight for 24:00 and a
    /// leap second.
    private mutating func timeOfDay(isBasic: Bool = false) -> Int? {
        guard let hour = number(digits: 2), hour <= 24, isBasic || skip(":"), let minute = number(digits: 2),
            minute < 60
        else { return nil }
        var micros = (hour * 60 + minute) * 60_000_000
        if isBasic ? peek().map(Self.isDigit) ?? false : skip(":") {
            guard let second = number(digits: 2), second <= 60, let fraction = fraction() else { return nil }
            micros += second * 1_000_000 + fraction
        }
        return hour < 24 || micros == 86_400_000_000 ? micros : nil
    }

    /// A fraction of a second in microseconds, 0 if there is none; digits after the sixth are read and dropped.
    private mutating func fraction() -> Int? {
        guard let mark = peek() else { return 0 }
        switch mark {
        case UInt8(ascii: ":") where forms == .braze:
            next += 1
            guard let millis = number(digits: 3) else { return nil }
            return millis * 1000
        case UInt8(ascii: "."), UInt8(ascii: ","):
            guard next + 1 < bytes.count, Self.isDigit(bytes[next + 1]) else {
                return 0  // the point before a zone
            }
            next += 1
            var micros = 0
            var unit = 100_000
            while let digit = peek(), Self.isDigit(digit) {
                micros += Int(digit - UInt8(ascii: "0")) * unit
                unit /= 10
                next += 1
            }
            return micros
        default: return 0
        }
    }

    /// The zone at the end of an ISO form, in minutes east of UTC.
    private mutating func trailingZone() -> Int? {
        if isAtEnd { return 0 }
        _ = skip(" ")
        return zone()
    }

    /// The zone between time and year, after a point or a space; without a zone, the space before the year is not read.
    private mutating func zoneBeforeYear() -> Int? {
        guard let separator = peek() else { return nil }
        if separator == UInt8(ascii: " "), next + 1 < bytes.count, Self.isDigit(bytes[next + 1]) { return 0 }
        guard skip(".") || skip(" ") else { return nil }
        return zone()
    }

    /// A zone's name, or its distance from UTC; in minutes east of UTC.
    private mutating func zone() -> Int? {
        guard let first = peek() else { return nil }
        return first == UInt8(ascii: "+") || first == UInt8(ascii: "-") ? distance() : namedZone()
    }

    /// `±hh`, `±hhmm`, `±hh:mm` or `±h:mm`.
    private mutating func distance() -> Int? {
        let isWest = peek() == UInt8(ascii: "-")
        next += 1
        let first = next
        guard let hours = oneOrTwoDigits(), hours < 24 else { return nil }
        let hasOneDigit = next == first + 1
        if hasOneDigit, forms == .iso { return nil }
        var minutes = 0
        let wantsMinutes = skip(":")
        if let digit = peek(), wantsMinutes || !hasOneDigit && Self.isDigit(digit) {
            guard let value = number(digits: 2), value < 60 else { return nil }
            minutes = value
        } else if wantsMinutes || hasOneDigit {
            return nil
        }
        let offset = hours * 60 + minutes
        return isWest ? -offset : offset
    }

    /// `Z`, or one of the names that the forms list.
    private mutating func namedZone() -> Int? {
        if skip("Z") || skip("z") { return 0 }
        let known: StaticString = forms == .iso ? "utcgmt" : "utcgmtestedtcstcdtmstmdtpstpdtcetces"
        guard let place = word(of: known) else {
            return (skip("U") || skip("u")) && (skip("T") || skip("t")) ? 0 : nil
        }
        let isWhole = place < 11 || skip("T") || skip("t")  // `CEST` has a letter more
        return isWhole ? Self.namedOffsets[place] : nil
    }

    private static let namedOffsets = [0, 0, -300, -240, -360, -300, -420, -360, -480, -420, 60, 120]

    private mutating func monthNumberOrName() -> Int? {
        if let first = peek(), Self.isDigit(first) { return number(digits: 2) }
        return word(of: "janfebmaraprmayjunjulaugsepoctnovdec").map { $0 + 1 }
    }

    /// The index of the three letters at `next` in `words`, lower case without gaps.
    private mutating func word(of words: StaticString) -> Int? {
        guard bytes.count - next >= 3 else { return nil }
        for start in stride(from: 0, to: words.utf8CodeUnitCount, by: 3) {
            let candidate = words.utf8Start + start
            if (0..<3).allSatisfy({ bytes[next + $0] | 0x20 == candidate[$0] }) {
                next += 3
                return start / 3
            }
        }
        return nil
    }
}

extension TimestampScanner {
    private var isAtEnd: Bool { next == bytes.count }

    private static func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") <= 9 }

    private func peek() -> UInt8? { next < bytes.count ? bytes[next] : nil }

    private mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard peek() == UInt8(ascii: character) else { return false }
        next += 1
        return true
    }

    private mutating func oneOrTwoDigits() -> Int? {
        let hasTwo = next + 1 < bytes.count && Self.isDigit(bytes[next + 1])
        return number(digits: hasTwo ? 2 : 1)
    }

    @inline(__always)
    private mutating func number(digits: Int) -> Int? {
        guard bytes.count - next >= digits else { return nil }
        var value = 0
        for index in next..<next + digits {
            guard Self.isDigit(bytes[index]) else { return nil }
            value = value * 10 + Int(bytes[index] - UInt8(ascii: "0"))
        }
        next += digits
        return value
    }
}
