extension Timestamp {
    /// The moment in the form of RFC 3339, as in `2026-01-01T00:00:00.123Z`.
    ///
    /// There are three digits behind the point, or six if the moment is no whole number of milliseconds. At an offset
    /// of 0 the zone is `Z`, else it is `±hh:mm`; an offset that RFC 3339 cannot express, a day or more, counts as 0. A
    /// year outside 0...9999 has a sign and six digits, as ISO 8601 wants, which is no RFC 3339 and is not read back.
    public func rfc3339(utcOffsetMinutes: Int32 = 0) -> String {
        String(unsafeUninitializedCapacity: Self.longestTextBytes) { write(to: $0, utcOffsetMinutes: utcOffsetMinutes) }
    }

    /// Appends what `rfc3339(utcOffsetMinutes:)` gives.
    func appendRFC3339(to bytes: inout [UInt8], utcOffsetMinutes: Int32 = 0) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: Self.longestTextBytes) { buffer in
            let count = write(to: buffer, utcOffsetMinutes: utcOffsetMinutes)
            bytes.append(contentsOf: UnsafeBufferPointer(rebasing: buffer[..<count]))
        }
    }

    /// `+294247-01-11T03:59:54.775807+23:59`, one of the longest, has 35.
    private static let longestTextBytes = 40

    private func write(to buffer: UnsafeMutableBufferPointer<UInt8>, utcOffsetMinutes: Int32) -> Int {
        let offset = -1439...1439 ~= utcOffsetMinutes ? Int(utcOffsetMinutes) : 0
        let (seconds, micros) = Self.floored(Int(rawValue), by: 1_000_000)
        let (days, secondOfDay) = Self.floored(seconds + offset * 60, by: 86_400)
        let date = CivilDate(daysSince1970: days)

        var out = DigitWriter(buffer)
        if 0...9999 ~= date.year {
            out.put(date.year, digits: 4)
        } else {
            out.put(UInt8(ascii: date.year < 0 ? "-" : "+"))
            out.put(abs(date.year), digits: 6)
        }
        out.put(UInt8(ascii: "-"))
        out.put(date.month, digits: 2)
        out.put(UInt8(ascii: "-"))
        out.put(date.day, digits: 2)
        out.put(UInt8(ascii: "T"))
        out.put(secondOfDay / 3600, digits: 2)
        out.put(UInt8(ascii: ":"))
        out.put(secondOfDay / 60 % 60, digits: 2)
        out.put(UInt8(ascii: ":"))
        out.put(secondOfDay % 60, digits: 2)
        out.put(UInt8(ascii: "."))
        if micros % 1000 == 0 { out.put(micros / 1000, digits: 3) } else { out.put(micros, digits: 6) }
        if offset == 0 {
            out.put(UInt8(ascii: "Z"))
        } else {
            out.put(UInt8(ascii: offset < 0 ? "-" : "+"))
            out.put(abs(offset) / 60, digits: 2)
            out.put(UInt8(ascii: ":"))
            out.put(abs(offset) % 60, digits: 2)
        }
        return out.count
    }

    /// Quotient and remainder, the remainder never negative.
    private static func floored(_ value: Int, by divisor: Int) -> (quotient: Int, remainder: Int) {
        let (quotient, remainder) = value.quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}

/// Puts bytes and numbers of fixed width one behind the other into borrowed memory.
private struct DigitWriter {
    private let buffer: UnsafeMutableBufferPointer<UInt8>
    private(set) var count = 0

    init(_ buffer: UnsafeMutableBufferPointer<UInt8>) { self.buffer = buffer }

    @inline(__always)
    mutating func put(_ byte: UInt8) {
        buffer.initializeElement(at: count, to: byte)
        count += 1
    }

    @inline(__always)
    mutating func put(_ value: Int, digits: Int) {
        var rest = UInt(bitPattern: value)
        for index in stride(from: count + digits - 1, through: count, by: -1) {
            buffer.initializeElement(at: index, to: UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10))
            rest /= 10
        }
        count += digits
    }
}

extension OccurredAt {
    /// Reads a date, with or without a time and a zone; nil for all that is none.
    ///
    /// | form | for example | |
    /// |---|---|---|
    /// | ISO 8601, extended | `2026-01-31T23:59:59.123456Z` | `T`, `t` or a space before the time; seconds optional |
    /// | ISO 8601, basic | `20260131T235959Z` | with a time alone, seconds optional |
    /// | fraction | `.5`, `,123456789`, `:123` | 1 to 9 digits, cut to microseconds; behind a colon 3 |
    /// | zone | `Z`, `+05:30`, `+0530`, `+05`, `+5:30`, ` -0500` | up to 23:59; one space may stand before it; none means UTC |
    /// | zone by name | `UTC`, `PST` | `UT`, `UTC`, `GMT`, the American ones of RFC 822 (`EST`, `EDT`, to `PST`, `PDT`), `CET`, `CEST` |
    /// | day | `2026-01-31` | midnight UTC |
    /// | American day | `01/31/2026`, `1/31/2026`, `1-31-2026` | month first; midnight UTC |
    /// | words | `Sat 01 31 23:59:59.-0500 2026` | see below |
    ///
    /// The last is Braze's `ddd MM dd HH:mm:ss.TZD YYYY`, whose meaning no document settles. Here `ddd` is the English
    /// weekday in three letters and must be that of the date; `MM` is the month, in two digits or three English
    /// letters; the time may have a fraction; `.TZD` is a zone as above, behind a point or a space, and may be missing.
    /// Other abbreviations of zones are refused, for several of them have more than one meaning.
    ///
    /// Letters are read in either case. Years are those of four digits, 0000 to 9999; whether a year is plausible is
    /// for the caller to say. 24:00 is midnight of the next day, and a second 60 the first of the next minute. There are
    /// no week dates and no ordinal dates, no days alone without hyphens, which look like plain numbers, and no white
    /// space around.
    public init?(iso8601 text: String) {
        guard let value = text.utf8.span.withUnsafeBufferPointer({ OccurredAt(iso8601: $0) }) else { return nil }
        self = value
    }

    /// Reads the UTF-8 text in `bytes` as `init(iso8601:)` reads a string.
    public init?(iso8601 bytes: UnsafeBufferPointer<UInt8>) {
        var scanner = TimestampScanner(bytes)
        guard let value = scanner.moment() else { return nil }
        self = value
    }
}
