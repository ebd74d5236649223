/// A text of a message with placeholders and tags: the part of Liquid that messages use (spec/messaging-api 4).
///
///     let template = try Template("Hello {{${first_name} | default: 'friend'}}!")
///     try template.render(context)  // Hello Ana!
///
/// | form | for example |
/// |---|---|
/// | placeholder | `{{${first_name}}}`, `{{custom_attribute.${plan} \| upcase}}` |
/// | a value within another | `{{api_trigger_properties.${items}[0].name}}` |
/// | of an array or text | `{% if custom_attribute.${tags}.size == 2 %}`, `{{custom_attribute.${tags}.first}}`, `.last`
/// |
/// | condition | `{% if a == b and c != blank %} … {% elsif d > 3 %} … {% else %} … {% endif %}` |
/// | variable | `{% assign total = api_trigger_properties.${price} \| plus: 5 %}` |
/// | loop over an array or numbers | `{% for item in api_trigger_properties.${items} %} … {% endfor %}`, `(1..3)` |
/// | no message for this user | `{% abort_message('no plan') %}` |
/// | without the white space around | `{%- … -%}`, `{{- … -}}` |
///
/// `and` and `or` bind from the right, as in Liquid. A value in a tag may have braces: `{% if {{${x}}} == 1 %}`.
/// Everything that no user can change is checked when the template is read: tags, filters, names of variables and
/// standard attributes.
package struct Template: Hashable, Sendable {
    /// UTF-8 bytes of a template.
    package static let maxBytes = 64 << 10
    /// Blocks within each other.
    static let maxDepth = 16
    /// UTF-8 bytes of a rendered text.
    package static let maxOutputBytes = 256 << 10
    /// Parts that one rendering may go through, loops included.
    static let maxSteps = 100_000

    let nodes: [Node]

    /// Reads `text`. Throws for what is not in the table above.
    package init(_ text: String) throws(TemplateError) {
        guard text.utf8.count <= Self.maxBytes else {
            throw TemplateError(
                Spot(), "the template is larger than \(Self.maxBytes) bytes", remedy: "Shorten it.")
        }
        var parser = TemplateParser(text)
        nodes = try parser.template()
    }

    /// The text that every user gets; nil if it depends on the user.
    package var constant: String? {
        switch nodes.first {
        case nil: ""
        case .text(let text) where nodes.count == 1: text
        default: nil
        }
    }

    /// The text for one user.
    package func render(_ context: RenderContext) throws(RenderError) -> String {
        if let constant { return constant }
        var renderer = TemplateRenderer(context)
        try renderer.render(nodes)
        return renderer.output
    }
}

extension Template {
    /// A place in a template, from 1. A column is a Unicode scalar.
    package struct Spot: Hashable, Sendable {
        package var line = 1
        package var column = 1
    }

    indirect enum Node: Hashable, Sendable {
        case text(String)
        case output(Expression)
        case assign(Name, Expression)
        case branches([Branch])
        case loop(variable: Name, over: Sequence, [Node])
        case abort(reason: String?)
    }

    /// The part that is rendered if `condition` holds; without a condition, always.
    struct Branch: Hashable, Sendable {
        var condition: Condition?
        var nodes: [Node]
    }

    /// The sequence that a loop goes through.
    enum Sequence: Hashable, Sendable {
        case elements(Reference)
        case numbers(from: Operand, through: Operand, Spot)
    }

    struct Expression: Hashable, Sendable {
        var operand: Operand
        var filters: [Filter]
        var spot: Spot
    }

    enum Operand: Hashable, Sendable {
        case literal(AttributeValue)
        /// Equal to what is missing, false, empty or white space.
        case blank
        /// Equal to what is missing alone.
        case absent
        case reference(Reference)
    }

    /// A value by its name.
    struct Reference: Hashable, Sendable {
        var root: Root
        var path: [Key] = []
        var spot: Spot
        /// As it is written.
        var text: String

        /// Tells whether the root is text for every user: the members of its path are known before there is a value.
        var isText: Bool {
            switch root {
            case .user(let field): field.isText
            case .message: true
            case .customAttribute, .property, .variable: false
            }
        }

        enum Root: Hashable, Sendable {
            case user(UserField)
            case customAttribute(Name)
            case property(PropertySource, Name)
            case message(MessageFact)
            case variable(Name)
        }

        /// A step from a value to one within it.
        enum Key: Hashable, Sendable {
            /// A name after a dot: a member of an object, else what `Fact` says.
            case member(Name)
            /// A name in brackets: a member of an object.
            case quotedMember(Name)
            /// An element of an array; a negative index counts from the end.
            case element(Int)
        }

        /// A property of every array and every text. Of an object, only `size`.
        enum Fact: String, CaseIterable {
            case size, first, last
        }
    }

    struct Filter: Hashable, Sendable {
        var kind: Kind
        var argument: Operand?
        var spot: Spot

        enum Kind: String, CaseIterable, Sendable {
            case `default`, upcase, downcase, capitalize, date, append, size, plus, minus

            var hasArgument: Bool {
                switch self {
                case .default, .date, .append, .plus, .minus: true
                case .upcase, .downcase, .capitalize, .size: false
                }
            }
        }
    }

    /// Comparisons from left to right with what joins each to the next.
    struct Condition: Hashable, Sendable {
        var comparisons: [Comparison]
        var joints: [Joint]

        enum Joint: Hashable, Sendable { case and, or }
    }

    /// `left` alone asks whether it is there and not false.
    struct Comparison: Hashable, Sendable {
        var left: Operand
        var comparator: Comparator?
        var right = Operand.blank
        var spot: Spot
    }

    enum Comparator: String, CaseIterable, Sendable {
        // The longer ones first: the parser takes the first that fits.
        case equal = "==", notEqual = "!=", notEqualToo = "<>", atMost = "<=", atLeast = ">=", less = "<", greater = ">"
        case contains

        /// All that are no words.
        static let symbols = allCases.filter { $0 != .contains }
    }
}
