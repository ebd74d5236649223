/// What the SDK accepts of a call (spec/device.md 4): what `SDKRules` has nothing against, as the store's own launches have it, and
/// what the blocklist and the SDK's version leave of it. Nobody looks at its answer (6.2, 27).
struct SDKGate {
    /// What is accepted; nil if nothing is.
    private(set) var accepted: SavedContent?
    /// What happened to the rest.
    private(set) var effects: [FaultEffect] = []
    private let conditions: PublishedConditions

    private static let most = 255

    init(_ content: SavedContent, isEnabled: Bool, _ conditions: PublishedConditions) {
        self.conditions = conditions
        accepted = nil
        if conditions.isSDKDisabled || !isEnabled { return }
        switch content {
        case .event(let event): accepted = !content.isRefusedBySDK && accepts(event) ? content : nil
        case .attributes(let changes): accepted = accept(changes)
        case .userAttribute where content.isRefusedBySDK: break
        case .userAttribute(let change):
            let value = cut(change.value)
            accepted = .userAttribute(UserAttributeChange(change.attribute, value))
            if value != change.value { effects.append(.truncated) }
        }
    }

    private func accepts(_ event: CustomEvent) -> Bool {
        let properties = event.properties ?? []
        let name = event.name
        if conditions.blocklist.contains(name) || name.text.isEmpty || !fits(name.text) { return false }
        if properties.isEmpty, conditions.sdk.refusesEmptyProperties { return false }
        return properties.allSatisfy(accepts)
    }

    private func accepts(_ property: AttributeValue.Member) -> Bool {
        let key = property.key.text
        return !key.isEmpty && fits(key) && property.value.texts(fit: fits)
    }

    /// Each attribute is a call of its own: those on the blocklist are refused, long keys and texts cut.
    private mutating func accept(_ changes: [AttributeChange]) -> SavedContent? {
        var taken: [AttributeChange] = []
        for change in changes
        where !conditions.blocklist.contains(change.name) && !SavedContent.attributes([change]).isRefusedBySDK {
            var cutChange = AttributeChange(Name(cut(change.name.text)), change.operation)
            if let value = change.setValue { cutChange.operation = .set(cut(value)) }
            if cutChange != change, !effects.contains(.truncated) { effects.append(.truncated) }
            taken.append(cutChange)
        }
        if taken.isEmpty {
            effects = []
            return nil
        }
        if taken.count < changes.count { effects.append(.partlyLost) }
        return .attributes(taken)
    }

    // MARK: - Lengths

    private func fits(_ text: String) -> Bool {
        text.utf8.count <= Self.most || conditions.sdk.countsCharacters && !text.isLonger(than: Self.most)
    }

    private func cut(_ value: AttributeValue) -> AttributeValue {
        if case .string(let text) = value { .string(cut(text)) } else { value }
    }

    /// The beginning of `text` that fits, in whole characters.
    private func cut(_ text: String) -> String {
        if fits(text) { return text }
        if conditions.sdk.countsCharacters { return text.prefix(characters: Self.most) }
        var bytes = 0
        return String(
            text.unicodeScalars.prefix { character in
                bytes += UTF8.width(character)
                return bytes <= Self.most
            })
    }
}
