/// The form of the times in an import, and the range that it takes.
package struct ImportTimes: Sendable {
    /// The unit of times that are numbers; nil for the one in which the moment is of the years 2000 to 2199.
    package let unit: EpochUnit?
    /// Tells whether times are taken that no device's clock may show.
    package let takesAny: Bool
    /// The time by the log's clock.
    private let now: Timestamp

    package init(unit: EpochUnit? = nil, takesAny: Bool = false, now: Timestamp) {
        (self.unit, self.takesAny, self.now) = (unit, takesAny, now)
    }

    /// The time that `value` is; nil for `null` and for none.
    package func read(_ value: AttributeValue?, _ name: String) throws(LineRefusal) -> OccurredAt? {
        switch value {
        case nil, .null: return nil
        case .string(let text):
            do throws(TimeError) {
                return try OccurredAt(reading: text)
            } catch {
                if let number = Int64(text), let time = moment(.int(number)) { return OccurredAt(time) }
                let remedy = error.remedy.map { "; \($0.prefix(1).lowercased())\($0.dropFirst().dropLast())" } ?? ""
                throw .init("\"\(name)\" \(error.reason)\(remedy)")
            }
        case .int?, .double?:
            guard let time = value.flatMap(moment) else {
                if let unit { throw .init("\"\(name)\" is no number of \(unit.words) since 1970") }
                throw .init("\"\(name)\" is a number that is no likely time", remedy: .timeUnit)
            }
            return OccurredAt(time)
        default: throw .init("\"\(name)\" must be a text as in RFC 3339, or a number of seconds since 1970")
        }
    }

    private func moment(_ number: AttributeValue) -> Timestamp? {
        guard let unit else { return EpochUnit.allCases.lazy.compactMap { $0.plausible(number) }.first }
        return unit.moment(number)
    }

    /// Refuses in a line that a person wrote what the service refuses in a request: a line of a year that is to come
    /// would win over all later changes of an attribute with the policy `last_occurred`.
    package func check(_ time: OccurredAt?, _ name: String) throws(LineRefusal) {
        guard let time, !takesAny,
            let reason = SDKRules.reasonAgainstClock(time.timestamp.rawValue, now: now.rawValue)
        else { return }
        throw .init("\"\(name)\" \(reason)", remedy: .anyTime)
    }
}
