/// A trigger of an in-app message (spec/device 5 and 5.1).
package enum TriggerCondition: Hashable, Sendable {
    /// A session starts.
    case sessionStart
    /// A push is opened: of this campaign, or any.
    case pushClick(campaign: Name? = nil)
    /// A purchase of this product, or of any.
    case purchase(product: Name? = nil, Filters = [])
    /// A custom event with this name.
    case customEvent(Name, Filters = [])

    /// All lists must hold, and of each list one filter. None: any properties, or no properties.
    package typealias Filters = [[PropertyFilter]]

    /// The types of the trigger's JSON. Those with `_property` have filters.
    package enum Word: String, CaseIterable {
        case open
        case pushClick = "push_click"
        case purchase
        case purchaseProperty = "purchase_property"
        case customEvent = "custom_event"
        case customEventProperty = "custom_event_property"

        /// Names that other documents give to a type.
        static let others: [String: Word] = [
            "session_start": .open, "app_open": .open, "push_open": .pushClick, "push_opened": .pushClick,
            "any_purchase": .purchase, "event": .customEvent,
        ]
    }

    var filters: Filters {
        switch self {
        case .sessionStart, .pushClick: []
        case .purchase(_, let filters), .customEvent(_, let filters): filters
        }
    }

    static let maxFilters = 50

    func check() throws(DocumentError) {
        switch self {
        case .sessionStart: break
        case .pushClick(let campaign): if let campaign { try InAppMessage.check(campaign, at: "campaign_id") }
        case .purchase(let product, _): if let product { try InAppMessage.check(product, at: "product_id") }
        case .customEvent(let name, _): try InAppMessage.check(name, at: "event_name")
        }
        guard filters.count <= Self.maxFilters, filters.allSatisfy({ $0.count <= Self.maxFilters }) else {
            throw DocumentError(
                place: "property_filters", reason: "has more than \(Self.maxFilters) filters in a list",
                remedy: "Use fewer filters.")
        }
        for (index, list) in filters.enumerated() where list.isEmpty {
            throw DocumentError(
                place: "property_filters[\(index)]", reason: "has no filter, so no event could match",
                remedy: "Add a filter, or take the list out.")
        }
    }
}
