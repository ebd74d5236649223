internal import ProfileLogRequests

/// Holds custom attributes to their types: the one that the workspace forces, or else that of the first value ever
/// (spec/rest-api 1.5).
///
/// Each request has a typing of its own, so that the first value in the request counts too. If two requests give an
/// attribute its first value at the same time, the one that is stored first decides, and the other is decided again.
struct AttributeTyping {
    private let forced: [Name: AttributeType]
    private let catalogue: LiveState<CatalogueProjection>
    private let view: DecisionView
    /// First types, as far as this request has asked for them or made them.
    private var known: [Name: AttributeType] = [:]

    init(_ api: BrazeAPI, _ view: DecisionView) {
        (forced, catalogue, self.view) = (api.workspace.forcedTypes, api.catalogue, view)
    }

    /// Makes the values of `object` those of their attributes' types; values that cannot be converted are dropped.
    mutating func fit(_ object: inout TrackObject) throws {
        var refused: [Name: String] = [:]
        for index in object.events.indices {
            guard case .customAttributesChanged(let changes) = object.events[index] else { continue }
            object.events[index] = .customAttributesChanged(
                try changes.map { change in
                    if refused[change.name] != nil { return change }
                    let (fitting, reason) = try fit(change, text: object.dateTexts[change.name])
                    refused[change.name] = reason
                    return fitting ?? change
                })
        }
        object.leaveAlone(refused)
    }

    /// The change as it is stored, or the reason why it is not.
    ///
    /// - Parameter text: what was sent, if the value is a time.
    private mutating func fit(
        _ change: AttributeChange, text: String?
    ) throws -> (AttributeChange?, reason: String?) {
        let isForced = forced[change.name] != nil
        let given = Self.typeGiven(by: change.operation)
        guard let type = try forced[change.name] ?? firstType(change.name, given) else { return (change, nil) }
        if type.allows(change.operation) { return (change, nil) }
        if case .set(let value) = change.operation {
            if type == .string, let text { return (AttributeChange(change.name, .set(.string(text))), nil) }
            if isForced, let coerced = type.coerced(value) {
                return (AttributeChange(change.name, .set(coerced)), nil)
            }
        }
        let reason =
            isForced
            ? "is no \(type.name), which the workspace makes it"
            : "is no \(type.name), as the first value of this attribute was"
        return (nil, reason)
    }

    /// The type of the first value, this request's included; nil if there is none.
    ///
    /// - Parameter given: the type that this request would give to an attribute without one.
    private mutating func firstType(_ name: Name, _ given: AttributeType?) throws -> AttributeType? {
        if let type = known[name] { return type }
        var type = try view.withState(of: catalogue) { view.log.reader.firstType(of: name, by: $0) }
        if type == nil, let given {
            view.requireUnchanged(.types(of: [name]))
            type = given
        }
        if let type { known[name] = type }
        return type
    }

    /// The type that an attribute has from then on, if it had none; as in `CatalogueProjection`.
    private static func typeGiven(by operation: AttributeOperation) -> AttributeType? {
        switch operation {
        case .arrayRemove, .objectsUpdate, .objectsRemove: nil
        default: AttributeType(operation)
        }
    }
}
