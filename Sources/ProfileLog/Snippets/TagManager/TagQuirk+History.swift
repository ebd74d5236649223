/// The quirks in a history: which of its calls they would have changed, had tags made the calls.
extension TagQuirk {
    /// The calls of the SDK that `event` records: a custom event is a call, and so is each attribute that is set.
    static func calls(in event: ProfileEvent) -> [TagCall] {
        if case .queued(let event) = event { return calls(in: event) }
        if case .customEventLogged(let event) = event {
            return [.logEvent(CustomEvent(name: event.name, properties: event.properties ?? []))]
        }
        guard case .customAttributesChanged(let changes) = event else { return [] }
        return changes.compactMap { change in
            if case .set(let value) = change.operation { .setCustomAttribute(change.name, value) } else { nil }
        }
    }

    /// Tells whether the provider with this quirk alone would have made another call of a tag for `call`.
    func changes(_ call: TagCall) -> Bool {
        let outcome = TagProvider([self]).execute(TagParameters(for: call))
        return outcome.quirks.contains(self) && outcome.result != .call(call)
    }

    /// The languages whose published version has it: the quirks of iOS, if the history is of its app, or else those of
    /// Android.
    package var languages: [TagLanguage] {
        let all = TagLanguage.allCases.filter { Self.of($0).contains(self) }
        return all == [.kotlin] ? all : all.filter { $0 != .kotlin }
    }

    /// Quirks of the versions for iOS.
    package static let ofIOS = allCases.filter { $0.languages != [.kotlin] }
}

extension TagParameters {
    /// Makes the parameters with which a tag would make `call`.
    fileprivate init(for call: TagCall) {
        switch call {
        case .logEvent(let event):
            var values: [Name: AttributeValue] = [:]
            for member in event.properties ?? [] { values[member.key] = member.value }
            values["actionType"] = .string(TagAction.logEvent.rawValue)
            values["eventName"] = .string(event.name.text)
            self.init(values)
        case .setCustomAttribute(let key, let value):
            self.init([
                "actionType": .string(TagAction.customAttribute.rawValue), "customAttributeKey": .string(key.text),
                "customAttributeValue": value,
            ])
        case .changeUser(let user):
            self.init([
                "actionType": .string(TagAction.changeUser.rawValue), "externalUserId": .string(user),
            ])
        }
    }
}
