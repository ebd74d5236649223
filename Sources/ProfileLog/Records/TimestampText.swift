extension Timestamp {
    /// The moment in the form of RFC 3339, as in `2026-01-01T00:00:00.123Z`.
    ///
    /// There are three digits after the point, or six if the moment is not a whole number of milliseconds. At an offset
    /// of 0 the zone is `Z`, else it is `±hh:mm`; an offset that RFC 3339 cannot express, a day or more, counts as 0.
    /// A year outside 0...9999 has a sign and six digits (ISO 8601), which is not RFC 3339 and is not read back.
    package func rfc3339(utcOffsetMinutes: Int32 = 0) -> String {
        String(unsafeUninitializedCapacity: Self.longestTextBytes) { write(to: $0, utcOffsetMinutes: utcOffsetMinutes) }
    }

    /// Appends what `rfc3339(utcOffsetMinutes:)` gives.
    package func appendRFC3339(to bytes: inout [UInt8], utcOffsetMinutes: Int32 = 0) {
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

/// Appends bytes and numbers of fixed width to borrowed memory.
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
