/// The count of something that a user did, with the events that raised it.
package struct OccurrenceBlame: Hashable, Sendable {
    /// The thing that is counted.
    package enum Subject: Hashable, Sendable {
        /// The custom event with this name.
        case event(Name)
        /// The product with this ID: how many were bought.
        case product(Name)
    }

    /// The thing that is counted.
    package var subject: Subject
    /// The number of times that it took effect; 0 if all its events are void.
    package var count: UInt64
    /// The earliest time at which it happened; nil for a count of 0.
    package var first: Timestamp?
    /// The latest time at which it happened; nil for a count of 0.
    package var last: Timestamp?
    /// The event that was counted last. Of the last ones of users who were merged, the later one.
    package var write: FieldWrite
    /// All that was counted, in the order in which it took effect, and void events at their place; empty unless asked
    /// for.
    package var log: [FieldWrite] = []
    /// The place of `log` in all that was counted, if it was asked for; it may be a part of it, and backward.
    package var logPlace: BlamePage.Place?
}

extension OccurrenceBlame.Subject {
    /// The name of the event, or the ID of the product.
    package var name: Name {
        switch self {
        case .event(let name), .product(let name): name
        }
    }

    /// As commands and requests name it: `event:Viewed Home`, `product:shoes`.
    package var text: String {
        switch self {
        case .event(let name): "event:\(name.text)"
        case .product(let name): "product:\(name.text)"
        }
    }

    /// Reads what commands and requests name; nil if `text` is neither an event nor a product.
    package init?(_ text: String) {
        guard let colon = text.firstIndex(of: ":") else { return nil }
        let name = Name(String(text[text.index(after: colon)...]))
        if name.text.isEmpty { return nil }
        switch text[..<colon] {
        case "event": self = .event(name)
        case "product": self = .product(name)
        default: return nil
        }
    }
}

extension FieldBlame {
    /// A count as the value of a field.
    init(_ blame: OccurrenceBlame) {
        self.init(
            attribute: Name(blame.subject.text), isCustom: true, path: [],
            value: .int(Int64(clamping: blame.count)), write: blame.write, replaced: nil, log: blame.log,
            logPlace: blame.logPlace)
    }
}
