internal import ProfileLog

extension PropertyList {
    /// Why a value cannot become another: a clause that shows no value.
    struct Misfit: Error {
        var clause: String
    }

    /// How a date stands in requests and answers.
    private static let time: Name = "$time"

    /// The value as requests carry it, with `{"$time": …}` for a date.
    func json(depth: Int = 1) throws(Misfit) -> AttributeValue {
        guard depth <= Limits.valueDepth else { throw Misfit(clause: "is nested deeper than \(Limits.valueDepth)") }
        switch self {
        case .bool(let flag): return .bool(flag)
        case .integer(let number): return .int(number)
        case .real(let number): return .double(number)
        case .string(let text): return .string(text)
        case .date(let date): return .object([.init(Self.time, .string(date.rfc3339()))])
        case .array(let values):
            return .array(try values.map { (value) throws(Misfit) in try value.json(depth: depth + 1) })
        case .dictionary(let members):
            if members.count == 1, members[Self.time] != nil {
                throw Misfit(clause: "holds a dictionary of $time alone, which is how a date is written here")
            }
            return .object(
                try members.sorted { $0.key < $1.key }.map { (member) throws(Misfit) in
                    .init(member.key, try member.value.json(depth: depth + 1))
                })
        case .data, .reference, .other: throw Misfit(clause: "holds \(type), which no profile can hold")
        }
    }

    /// The value that requests carry as `json`, its dates already read.
    init(_ json: AttributeValue) throws(Misfit) {
        switch json {
        case .null: throw Misfit(clause: "holds null, which no property list can hold")
        case .bool(let flag): self = .bool(flag)
        case .int(let number): self = .integer(number)
        case .double(let number): self = .real(number)
        case .string(let text): self = .string(text)
        case .date(let date): self = .date(date.timestamp)
        case .array(let values):
            self = .array(try values.map { (value) throws(Misfit) in try PropertyList(value) })
        case .object(let members):
            var values: [Name: PropertyList] = [:]
            for member in members { values[member.key] = try PropertyList(member.value) }
            self = .dictionary(values)
        }
    }
}
