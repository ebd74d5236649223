/// The tag manager of an app: from an event of the app to the calls of the SDK, a pure machine (spec/device 4.1).
///
/// ```swift
/// let manager = TagManager(container, TagProvider(TagQuirk.of(.objectiveC)))
/// let event = AppEvent("played song", ["genre": .string("pop")])
/// for firing in manager.handle(event) { print(firing.tag, firing.outcome) }
/// ```
package struct TagManager: Sendable {
    package var container: TagContainer
    package var provider: TagProvider

    package init(_ container: TagContainer, _ provider: TagProvider = TagProvider()) {
        (self.container, self.provider) = (container, provider)
    }

    /// What each tag that `event` fires did, in the order of the container.
    package func handle(_ event: AppEvent) -> [(tag: Name, outcome: TagOutcome)] {
        container.tags.filter { $0.events.contains(event.name) }.map { tag in
            guard container.provider.map({ $0 == tag.classPath }) ?? true else {
                return (tag.name, TagOutcome(.nothing(.otherClass)))
            }
            return (tag.name, provider.execute(TagParameters(of: tag, for: event)))
        }
    }
}

/// What a tag did.
package struct TagOutcome: Hashable, Sendable {
    package enum Result: Hashable, Sendable {
        case call(TagCall)
        case nothing(TagFault)
    }

    package var result: Result
    /// The quirks without which it would have done something else, or have said what it did.
    package var quirks: [TagQuirk]

    package init(_ result: Result, _ quirks: [TagQuirk] = []) { (self.result, self.quirks) = (result, quirks) }
}
