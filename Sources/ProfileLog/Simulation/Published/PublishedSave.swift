/// What a published save makes of an item before it touches a list.
struct PublishedSave {
    /// What can be stored, or the fault for which nothing is.
    let stored: Result
    /// What was left out.
    let deviations: [Deviation]

    enum Result {
        case content(SavedContent)
        case nothing(Fault)
    }

    init(_ content: SavedContent, in language: SnippetLanguage, _ policy: PublishedPolicy) {
        var deviations: [Deviation] = []
        stored = Self.storable(content, language, policy, &deviations)
        self.deviations = deviations
    }

    private static func storable(
        _ content: SavedContent, _ language: SnippetLanguage, _ policy: PublishedPolicy,
        _ deviations: inout [Deviation]
    ) -> Result {
        switch content {
        case .event(let event):
            if policy.has(.nullCrashesSave), (event.properties ?? []).contains(where: { $0.value.holdsNull }) {
                return .nothing(.nullCrashesSave)
            }
            return .content(content)
        case .attributes(let changes):
            var kept = changes
            if policy.has(.onlySetIsPossible) {
                kept.removeAll { $0.setValue == nil }
                if kept.isEmpty { return .nothing(.onlySetIsPossible) }
                if kept.count < changes.count { deviations.append(Deviation(.onlySetIsPossible, .partlyLost)) }
            }
            if policy.has(.nullCrashesSave), kept.contains(where: { $0.setValue?.holdsNull ?? false }) {
                return .nothing(.nullCrashesSave)
            }
            return .content(.attributes(kept))
        case .userAttribute(let change):
            if policy.has(.onlyEmailExists), change.attribute != .email { return .nothing(.onlyEmailExists) }
            if policy.has(.archivingFails), language == .objectiveC { return .nothing(.archivingFails) }
            return .content(content)
        }
    }
}

extension AttributeChange {
    /// What it sets; nil if it does something else.
    var setValue: AttributeValue? { if case .set(let value) = operation { value } else { nil } }
}

extension AttributeValue {
    /// Whether it is null or has a null in it, which no property list can hold.
    var holdsNull: Bool {
        switch self {
        case .null: true
        case .array(let values): values.contains(where: \.holdsNull)
        case .object(let members): members.contains { $0.value.holdsNull }
        default: false
        }
    }
}
