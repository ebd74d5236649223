/// The rules of folds for updates of attributes and for events, as a value.
///
/// A store holds the rules of its log (`EventLog.setRules`): each event is folded by the rules that were the newest
/// before it. Without rules an attribute has the value that arrived last.
///
/// ```swift
/// try log.setRules(FoldRules(policies: ["visits": .counter, "signup_source": .firstWins]))
/// ```
public struct FoldRules: Hashable, Sendable {
    /// The policies of attributes, by their names on the wire; `lastArrival` for all others.
    public var policies: [Name: AttributePolicy] {
        didSet { policies = policies.filter { $0.value != .lastArrival } }
    }
    /// Custom attributes whose updates are skipped.
    package var blockedAttributes: Set<Name> = []
    /// Custom events that are skipped.
    package var blockedEvents: Set<Name> = []
    /// Types to which values of custom attributes are brought; values for which that is impossible are skipped.
    package var forcedTypes: [Name: AttributeType] = [:]

    /// Rules with these policies.
    public init(policies: [Name: AttributePolicy] = [:]) {
        self.policies = policies.filter { $0.value != .lastArrival }
    }

    /// Tells whether they change nothing.
    package var isEmpty: Bool {
        policies.isEmpty && blockedAttributes.isEmpty && blockedEvents.isEmpty && forcedTypes.isEmpty
    }
}

/// Rules as folds use them, and the events that bring revenue: by the numbers that a store gave to the names.
@usableFromInline
package final class BoundRules: Sendable {
    /// The rules by name.
    package let rules: FoldRules
    private let attributes: [FieldKey: AttributeRule]
    private let blockedEvents: Set<UInt32>
    /// The events that bring revenue; nil if the store has none.
    let orders: OrderEvents?

    /// No rules.
    package static let none = BoundRules(FoldRules(), names: NameMap())

    /// Binds `rules` to the numbers of names. A name that no event of the store has used has none, and needs no rule.
    package init(_ rules: FoldRules, names: NameMap) {
        self.rules = rules
        var attributes: [FieldKey: AttributeRule] = [:]
        func change(_ name: Name, _ body: (inout AttributeRule) -> Void) {
            if let number = names.number(name) {
                body(&attributes[FieldKey(custom: number), default: AttributeRule()])
            }
        }
        for (name, policy) in rules.policies {
            change(name) { $0.policy = policy }
            if let attribute = StandardAttribute(name: name.text), policy.fits(attribute) {
                attributes[FieldKey(standard: UInt32(attribute.rawValue))] = AttributeRule(policy: policy)
            }
        }
        for name in rules.blockedAttributes { change(name) { $0.isBlocked = true } }
        for (name, type) in rules.forcedTypes { change(name) { $0.type = type } }
        self.attributes = attributes
        blockedEvents = Set(rules.blockedEvents.compactMap { names.number($0) })
        orders = OrderEvents(names)
    }

    /// Tells whether they change nothing in this store.
    var isEmpty: Bool { attributes.isEmpty && blockedEvents.isEmpty && orders == nil }

    /// Tells whether an attribute has a rule.
    package var hasAttributes: Bool { !attributes.isEmpty }

    /// The same rules in a store with other names.
    package func bound(to names: NameMap) -> BoundRules { BoundRules(rules, names: names) }

    /// The rule of an attribute; nil if it has none.
    func rule(of key: FieldKey) -> AttributeRule? { attributes[key] }

    package func policy(of key: FieldKey) -> AttributePolicy { attributes[key]?.policy ?? .lastArrival }

    /// Tells whether custom events with this name are skipped.
    package func blocks(event name: UInt32) -> Bool { blockedEvents.contains(name) }
}

extension EventView {
    /// The rules that hold for the event, those of its effect; nil if there were never any.
    @inlinable package var rules: BoundRules? {
        @inline(__always) get { context.map { unsafeDowncast($0, to: BoundRules.self) } }
    }
}

/// The rules of one attribute.
struct AttributeRule {
    var policy = AttributePolicy.lastArrival
    var isBlocked = false
    var type: AttributeType?

    /// The operation that the rule lets through; nil if it skips it.
    func fitting(_ operation: AttributeOperation) -> AttributeOperation? {
        if isBlocked { return nil }
        guard let type, !type.allows(operation) else { return operation }
        if case .set(let value) = operation { return type.coerced(value).map { .set($0) } }
        return nil
    }
}
