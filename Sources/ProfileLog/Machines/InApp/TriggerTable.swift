/// The compiled triggers of up to 200 messages: which of them an event triggers, in the order of their priority.
///
/// One table serves all devices that hold these messages. An event looks up the conditions of its name or product, and
/// tests their filters; a match allocates nothing.
package struct TriggerTable: Sendable {
    /// The messages, highest priority first; of equal priority in the given order.
    package let messages: [InAppMessage]
    private let indexes: [Name: Int]
    private var sessionStarts: [Entry] = []
    private var pushClicks: [Entry] = []
    private var events: [Name: [Entry]] = [:]
    /// Conditions of a product, together with those of any product.
    private var products: [Name: [Entry]] = [:]
    private var anyProduct: [Entry] = []

    /// One condition. The entries of a list are in the order of `messages`.
    private struct Entry: Sendable {
        let message: Int
        /// The campaign of a push click: the campaign; nil for any.
        var campaign: Name?
        /// The test of the event's properties; nil without filters.
        var properties: ValueTest?
    }

    /// Compiles `messages`, or names the second of one ID (`messages[3].id`).
    package init(_ messages: [InAppMessage]) throws(DocumentError) {
        try InAppMessage.check(messages, at: "messages")
        let order = messages.indices.sorted { (-messages[$0].priority, $0) < (-messages[$1].priority, $1) }
        self.messages = order.map { messages[$0] }
        var indexes: [Name: Int] = [:]
        for (index, message) in self.messages.enumerated() { indexes[message.id] = index }
        self.indexes = indexes
        let named = self.messages.flatMap(\.triggers).compactMap { trigger in
            if case .purchase(let product?, _) = trigger { product } else { nil }
        }
        for product in named { products[product] = [] }
        for (index, message) in self.messages.enumerated() {
            for trigger in message.triggers { add(trigger, of: index) }
        }
    }

    private mutating func add(_ trigger: TriggerCondition, of message: Int) {
        // All lists hold, and of each list one filter.
        let tests = trigger.filters.map { ValueTest.any($0.map(\.test)) }
        let entry = Entry(message: message, properties: tests.isEmpty ? nil : .all(tests))
        switch trigger {
        case .sessionStart: sessionStarts.append(entry)
        case .pushClick(let campaign): pushClicks.append(Entry(message: message, campaign: campaign))
        case .customEvent(let name, _): events[name, default: []].append(entry)
        case .purchase(let product?, _): products[product, default: []].append(entry)
        case .purchase(nil, _):
            anyProduct.append(entry)
            for product in products.keys { products[product]?.append(entry) }
        }
    }

    /// The message with this ID.
    package subscript(id: Name) -> InAppMessage? { indexes[id].map { messages[$0] } }

    /// Calls `body` with the index of each message that `event` triggers, once, highest priority first.
    package func forEachMatch(_ event: TriggerEvent, _ body: (Int) -> Void) {
        switch event {
        case .sessionStart: Self.match(sessionStarts, nil, body)
        case .pushOpened(let campaign):
            var last = -1
            for entry in pushClicks where entry.message != last && (entry.campaign == nil || entry.campaign == campaign)
            {
                last = entry.message
                body(last)
            }
        case .customEvent(let event):
            if let entries = events[event.name] { Self.match(entries, event.properties, body) }
        case .purchase(let purchase):
            Self.match(products[purchase.product] ?? anyProduct, purchase.properties, body)
        }
    }

    private static func match(_ entries: [Entry], _ properties: [AttributeValue.Member]?, _ body: (Int) -> Void) {
        var last = -1
        for entry in entries where entry.message != last && accepts(entry.properties, properties) {
            last = entry.message
            body(last)
        }
    }

    /// Tells whether the properties pass; with filters, an event without properties never does; one with empty
    /// properties may (spec/device 5.1). No filter compares with now.
    private static func accepts(_ test: ValueTest?, _ properties: [AttributeValue.Member]?) -> Bool {
        guard let test else { return true }
        return properties.map { test.accepts(.object($0), at: Timestamp(rawValue: 0)) } ?? false
    }
}
