/// A container of the tag manager: which events of the app fire which tags, with which parameters (spec/device 4.1).
///
/// Each tag calls a class of the app, the provider, with its parameters. The provider calls the SDK (`TagProvider`).
package struct TagContainer: Hashable, Sendable {
    /// The class path of the app's provider; nil if the tags of every class are its own.
    package var provider: String?
    /// In the order in which they fire.
    package var tags: [Tag]

    package init(provider: String? = nil, tags: [Tag]) {
        (self.provider, self.tags) = (provider, tags)
    }

    /// One tag.
    package struct Tag: Hashable, Sendable {
        package var name: Name
        /// The class that it calls.
        package var classPath: String
        /// The names of the events that fire it.
        package var events: Set<Name>
        /// What it hands to the class, in the order of the file.
        package var parameters: [(key: Name, source: TagValueSource)]

        package init(
            name: Name, classPath: String, events: Set<Name>, parameters: [(key: Name, source: TagValueSource)]
        ) {
            (self.name, self.classPath, self.events, self.parameters) = (name, classPath, events, parameters)
        }

        package static func == (left: Tag, right: Tag) -> Bool {
            left.name == right.name && left.classPath == right.classPath && left.events == right.events
                && left.parameters.elementsEqual(right.parameters) { $0.key == $1.key && $0.source == $1.source }
        }

        package func hash(into hasher: inout Hasher) { hasher.combine(name) }
    }

    /// The names of all events that fire a tag.
    package var events: Set<Name> { tags.reduce(into: []) { $0.formUnion($1.events) } }
}

/// Where the value of a tag's parameter comes from: it is fixed, or that of a variable.
package enum TagValueSource: Hashable, Sendable {
    case fixed(AttributeValue)
    /// A parameter of the event; `otherwise` if the event lacks it. With neither the tag has no such parameter.
    case eventParameter(Name, otherwise: AttributeValue?)
    /// The name of the event.
    case eventName
}

/// An event of the app, as it reaches the tag manager.
package struct AppEvent: Hashable, Sendable {
    package var name: Name
    package var parameters: [Name: AttributeValue]
    /// How the app made number objects of its numbers, where it matters: only the Objective-C version looks at it.
    package var encodings: [Name: NumberEncoding]

    package init(
        _ name: Name, _ parameters: [Name: AttributeValue] = [:], encodings: [Name: NumberEncoding] = [:]
    ) {
        (self.name, self.parameters, self.encodings) = (name, parameters, encodings)
    }
}

/// The C type from which a number object was made (`objCType`).
package enum NumberEncoding: String, Sendable, CaseIterable {
    case bool, char, short, int, long, float, double
    case unsignedChar = "unsigned char"
    case unsignedShort = "unsigned short"
    case unsignedInt = "unsigned int"
    case unsignedLong = "unsigned long"
    case longLong = "long long"
    case unsignedLongLong = "unsigned long long"

    /// The type of this name, or of this letter of `@encode`.
    package init?(word: String) {
        switch word {
        case "B": self = .bool
        case "c": self = .char
        case "s": self = .short
        case "i": self = .int
        case "l": self = .long
        case "q": self = .longLong
        case "C": self = .unsignedChar
        case "S": self = .unsignedShort
        case "I": self = .unsignedInt
        case "L": self = .unsignedLong
        case "Q": self = .unsignedLongLong
        case "f": self = .float
        case "d": self = .double
        default: self.init(rawValue: word)
        }
    }
}

/// What a tag hands to its class.
package struct TagParameters: Hashable, Sendable {
    private(set) var values: [Name: AttributeValue] = [:]
    private(set) var encodings: [Name: NumberEncoding] = [:]

    init(_ values: [Name: AttributeValue]) { self.values = values }

    init(of tag: TagContainer.Tag, for event: AppEvent) {
        for (key, source) in tag.parameters {
            switch source {
            case .fixed(let value): values[key] = value
            case .eventName: values[key] = .string(event.name.text)
            case .eventParameter(let name, let otherwise):
                values[key] = event.parameters[name] ?? otherwise
                if event.parameters[name] != nil { encodings[key] = event.encodings[name] }
            }
        }
    }

    subscript(key: Name) -> AttributeValue? { values[key] }

    /// All but `removed`, by name.
    func properties(without removed: [Name]) -> [AttributeValue.Member] {
        values.filter { !removed.contains($0.key) }.sorted { $0.key < $1.key }.map { .init($0.key, $0.value) }
    }

    /// The text of `key`; nil if there is none, or something else.
    func text(_ key: Name) -> String? {
        guard case .string(let text) = values[key] else { return nil }
        return text
    }
}
