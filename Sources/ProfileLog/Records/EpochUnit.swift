/// The unit of a time that is a number: so many since 1970-01-01T00:00:00Z.
package enum EpochUnit: String, CaseIterable, Sendable {
    case seconds = "s"
    case milliseconds = "ms"
    case microseconds = "us"

    package var words: String { "\(self)" }

    private var perSecond: Double {
        switch self {
        case .seconds: 1
        case .milliseconds: 1e3
        case .microseconds: 1e6
        }
    }

    /// The first moment of the year 2000, and the last of 2199, in seconds: between them the numbers of one unit are no
    /// numbers of another.
    private static let plausibleSeconds = 946_684_800.0...7_258_118_400.0

    /// The moment that `number` is in this unit, with an error below a microsecond; nil for what is no number, or a
    /// year beyond 9999.
    package func moment(_ number: AttributeValue) -> Timestamp? {
        let micros: Int64?
        switch number {
        case .int(let whole):
            let (product, overflow) = whole.multipliedReportingOverflow(by: Int64(1e6 / perSecond))
            micros = overflow ? nil : product
        case .double(let number): micros = Int64(exactly: (number / perSecond * 1e6).rounded())
        default: micros = nil
        }
        return micros.map(Timestamp.init(rawValue:)).flatMap { OccurredAt($0).isExpressible ? $0 : nil }
    }

    /// The moment, if it is a likely one.
    package func plausible(_ number: AttributeValue) -> Timestamp? {
        guard let moment = moment(number), Self.plausibleSeconds.contains(Double(moment.rawValue) / 1e6) else {
            return nil
        }
        return moment
    }
}
