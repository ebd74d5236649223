/// A container of the tag manager: which events of the app fire which tags, with which parameters (spec/device 4.1).
///
/// Each tag calls a class of the app, the provider, with its parameters. The provider calls the SDK (`TagProvider`).
package struct TagContainer: Hashable, Sendable {
    /// The class path of the app's provider; nil if the tags of every class are its own.
    package var provider: String?
    /// The platform of its app; nil if its file does not say it.
    package var platform: Platform?
    package var variables: [TagVariable]
    package var triggers: [TagTrigger]
    /// Tags in the order in which they fire.
    package var tags: [Tag]
    /// Parts of its file that this program cannot play.
    package var unplayed: [Unplayed]

    package init(
        provider: String? = nil, platform: Platform? = nil, variables: [TagVariable] = [], triggers: [TagTrigger],
        tags: [Tag], unplayed: [Unplayed] = []
    ) {
        (self.provider, self.platform, self.variables) = (provider, platform, variables)
        (self.triggers, self.tags, self.unplayed) = (triggers, tags, unplayed)
    }

    /// One tag.
    package struct Tag: Hashable, Sendable {
        package var name: Name
        /// The class that it calls.
        package var classPath: String
        /// The triggers any of which fires it, by their places in the container.
        package var firing: [Int]
        /// Its exceptions: the triggers any of which keeps it from firing.
        package var blocking: [Int]
        /// Parameters for the class, in the order of the file.
        package var parameters: [Parameter]

        package init(
            name: Name, classPath: String, firing: [Int], blocking: [Int] = [], parameters: [Parameter]
        ) {
            (self.name, self.classPath, self.firing, self.blocking) = (name, classPath, firing, blocking)
            self.parameters = parameters
        }

        /// A parameter that a tag hands to its class.
        package struct Parameter: Hashable, Sendable {
            package var key: TagValueSource
            package var source: TagValueSource

            package init(_ key: TagValueSource, _ source: TagValueSource) { (self.key, self.source) = (key, source) }

            package init(_ key: Name, _ source: TagValueSource) { self.init(.fixed(.string(key.text)), source) }
        }
    }

    /// A part of the file that is not played.
    package struct Unplayed: Hashable, Sendable {
        /// The place: `containerVersion.tag[3].parameter[2]`.
        package var place: String
        /// The tag, trigger or variable.
        package var name: Name
        /// A clause after its name.
        package var reason: String
        /// The next step.
        package var remedy: String

        package init(place: String, name: Name, reason: String, remedy: String) {
            (self.place, self.name, self.reason, self.remedy) = (place, name, reason, remedy)
        }
    }

    /// The names of the events for which its triggers ask by name.
    package var events: Set<Name> {
        triggers.reduce(into: []) { names, trigger in
            for condition in trigger.conditions { if let name = condition.eventName(variables) { names.insert(name) } }
        }
    }

    /// `source` as the container's file has it: `{{genre}}` for a variable.
    package func text(of source: TagValueSource) -> String {
        switch source {
        case .fixed(.string(let text)): text
        case .fixed(let value): value.json
        case .eventName: "{{Event Name}}"
        case .text(let parts): parts.map(text(of:)).joined()
        case .variable(let number): "{{\(variables[number].name)}}"
        }
    }
}

/// An event of the app, as it reaches the tag manager.
package struct AppEvent: Hashable, Sendable {
    package var name: Name
    package var parameters: [Name: AttributeValue]
    /// The encoding of the app's number objects, where it matters: only the Objective-C version looks at it.
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

/// The parameters that a tag hands to its class.
package struct TagParameters: Hashable, Sendable {
    private(set) var values: [Name: AttributeValue] = [:]
    private(set) var encodings: [Name: NumberEncoding] = [:]

    init(_ values: [Name: AttributeValue]) { self.values = values }

    init(of tag: TagContainer.Tag, _ given: inout TagValues) {
        for parameter in tag.parameters {
            let key = Name(given.text(of: parameter.key))
            values[key] = given.value(of: parameter.source)
            encodings[key] = given.encoding(of: parameter.source)
        }
    }

    subscript(key: Name) -> AttributeValue? { values[key] }

    /// The text of whatever `key` has, as Kotlin writes it: `null` if there is nothing.
    func anyText(_ key: Name) -> String {
        switch values[key] {
        case nil: "null"
        case .string(let text): text
        case let value?: value.json
        }
    }

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
