/// The tags that an event of the app fired, and the reasons why the others did not fire: a pure machine (spec/device
/// 4.1).
///
/// ```swift
/// let (event, provider) = (AppEvent("played song", ["genre": .string("pop")]), TagProvider(TagQuirk.of(.swift)))
/// for firing in TagRun(container, event).fired { print(firing.tag, provider.execute(firing)) }
/// ```
package struct TagRun: Sendable {
    /// Fired tags in the order of the container.
    package private(set) var fired: [Firing] = []
    /// Tags that an exception kept from firing, and its trigger.
    package private(set) var blocked: [(tag: Name, trigger: Name)] = []
    /// Tags with a trigger on an event of this name, and the condition in words that did not hold.
    package private(set) var missed: [(tag: Name, trigger: Name, condition: String)] = []

    /// A tag that fired.
    package struct Firing: Sendable {
        package let tag: Name
        /// The parameters for the provider; nil if it calls another class.
        fileprivate let parameters: TagParameters?
    }

    package init(_ container: TagContainer, _ event: AppEvent) {
        var values = TagValues(container, event)
        for tag in container.tags {
            guard tag.firing.contains(where: { values.fires($0) }) else {
                if let miss = Self.miss(tag, &values) { missed.append((tag.name, miss.trigger, miss.condition)) }
                continue
            }
            if let exception = tag.blocking.first(where: { values.fires($0) }) {
                blocked.append((tag.name, container.triggers[exception].name))
                continue
            }
            let isOwn = container.provider.map { $0 == tag.classPath } ?? true
            fired.append(Firing(tag: tag.name, parameters: isOwn ? TagParameters(of: tag, &values) : nil))
        }
    }

    /// The trigger that came nearest to firing `tag`: it asks for an event of this name.
    private static func miss(
        _ tag: TagContainer.Tag, _ values: inout TagValues
    ) -> (trigger: Name, condition: String)? {
        for number in tag.firing {
            let trigger = values.container.triggers[number]
            guard let place = values.failure(of: number),
                trigger.conditions.contains(where: {
                    $0.eventName(values.container.variables) == values.event.name
                })
            else { continue }
            return (trigger.name, trigger.conditions[place].words(values.container))
        }
        return nil
    }
}

extension TagProvider {
    /// Returns the outcome of a tag that fired.
    package func execute(_ firing: TagRun.Firing) -> TagOutcome {
        firing.parameters.map(execute) ?? TagOutcome(.nothing(.otherClass))
    }
}

/// The outcome of a tag.
package struct TagOutcome: Hashable, Sendable {
    package enum Result: Hashable, Sendable {
        case call(TagCall)
        case nothing(TagReason)
    }

    package var result: Result
    /// The quirks without which it would have done something else, or have said what it did.
    package var quirks: [TagQuirk]

    package init(_ result: Result, _ quirks: [TagQuirk] = []) { (self.result, self.quirks) = (result, quirks) }
}
