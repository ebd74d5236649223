/// A day of the proleptic Gregorian calendar; the year before 1 is 0.
struct CivilDate: Hashable {
    var year: Int
    var month: Int
    var day: Int

    /// The day with these numbers; nil if the calendar has no such day.
    init?(year: Int, month: Int, day: Int) {
        guard 1...12 ~= month, day >= 1, day <= Self.days(inMonth: month, ofYear: year) else { return nil }
        (self.year, self.month, self.day) = (year, month, day)
    }

    /// The day that is `days` after 1970-01-01.
    init(daysSince1970 days: Int) {
        // Years here begin in March, so that the leap day is the last of its year and months have a regular rhythm.
        let sinceMarch0 = days + Self.daysFromMarch0To1970
        let cycle = (sinceMarch0 - (sinceMarch0 < 0 ? Self.daysPerCycle - 1 : 0)) / Self.daysPerCycle
        let dayOfCycle = sinceMarch0 - cycle * Self.daysPerCycle
        // Subtracts the leap days before this day: one every 1461 days, none in three of four centuries.
        let yearOfCycle = (dayOfCycle - dayOfCycle / 1460 + dayOfCycle / 36_524 - dayOfCycle / 146_096) / 365
        let dayOfYear = dayOfCycle - Self.daysBeforeYear(yearOfCycle)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        day = dayOfYear - Self.daysBeforeMonth(monthFromMarch) + 1
        month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        year = cycle * 400 + yearOfCycle + (month <= 2 ? 1 : 0)
    }

    /// The number of days from 1970-01-01 to this; negative before.
    var daysSince1970: Int {
        let marchYear = month <= 2 ? year - 1 : year
        let cycle = (marchYear - (marchYear < 0 ? 399 : 0)) / 400
        let monthFromMarch = month <= 2 ? month + 9 : month - 3
        let dayOfYear = Self.daysBeforeMonth(monthFromMarch) + day - 1
        return cycle * Self.daysPerCycle + Self.daysBeforeYear(marchYear - cycle * 400) + dayOfYear
            - Self.daysFromMarch0To1970
    }

    /// The day of the week, 0 for Sunday.
    var weekday: Int {
        let fromThursday = (daysSince1970 + 4) % 7  // 1970-01-01 was a Thursday
        return fromThursday < 0 ? fromThursday + 7 : fromThursday
    }

    static func days(inMonth month: Int, ofYear year: Int) -> Int {
        switch month {
        case 2: isLeap(year) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    private static func isLeap(_ year: Int) -> Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }

    /// Days in 400 years, after which the calendar repeats.
    private static let daysPerCycle = 146_097
    /// Days from the first of March of the year 0 to 1970-01-01.
    private static let daysFromMarch0To1970 = 719_468

    /// Days before year 0...399 of a cycle.
    private static func daysBeforeYear(_ year: Int) -> Int { year * 365 + year / 4 - year / 100 }

    /// Days before a month counted from March: 31 30 31 30 31, twice, and the rest.
    private static func daysBeforeMonth(_ monthFromMarch: Int) -> Int { (153 * monthFromMarch + 2) / 5 }
}
