/// The matches of `$update` or `$remove` by their members, so that an element is not compared with each of them.
package struct ElementMatches {
    /// The places of the matches in their list, ascending.
    private var places: [Name: [AttributeValue: [Int]]] = [:]

    package init(_ matches: some Sequence<AttributeValue.Member>) {
        for (place, match) in matches.enumerated() {
            places[match.key, default: [:]][match.value, default: []].append(place)
        }
    }

    /// The place of the first match at `start` or later that is a member of `element`; nil if none is.
    package func first(in element: AttributeValue, from start: Int = 0) -> Int? {
        guard case .object(let members) = element else { return nil }
        var first: Int?
        func look(_ values: [AttributeValue: [Int]], _ value: AttributeValue) {
            guard let places = values[value] else { return }
            let index = places.lowerBound { $0 < start }
            if index < places.count { first = min(first ?? .max, places[index]) }
        }
        // Whichever are fewer.
        if places.count <= members.count {
            for (key, values) in places { if let value = members.value(of: key) { look(values, value) } }
        } else {
            for member in members { if let values = places[member.key] { look(values, member.value) } }
        }
        return first
    }
}
