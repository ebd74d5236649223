internal import ProfileLogFacts
internal import ProfileLogSnippets

/// Text with `{{variables}}` in it. Braces that do not close, or hold nothing, are text.
struct TagTemplate {
    private enum Part {
        case text(String)
        case variable(Name)
    }

    private var parts: [Part] = []

    init(_ text: String) {
        var rest = text[...]
        var plain = ""
        while let open = rest.firstPair(of: "{") {
            let name = rest[rest.index(open, offsetBy: 2)...]
            guard let close = name.firstPair(of: "}"), close > name.startIndex else { break }
            // Of three braces the inner two open.
            let inner = name[..<close].lastPair(of: "{").map { rest.index($0, offsetBy: 2) } ?? name.startIndex
            plain += rest[..<inner].dropLast(2)
            if !plain.isEmpty { parts.append(.text(plain)) }
            plain = ""
            parts.append(.variable(Name(String(rest[inner..<close]))))
            rest = rest[rest.index(close, offsetBy: 2)...]
        }
        plain += rest
        if !plain.isEmpty || parts.isEmpty { parts.append(.text(plain)) }
    }

    /// Returns the source that it means: a variable alone keeps its type. `variable` gives the meaning of a name.
    func source<Failure: Error>(
        _ variable: (Name) throws(Failure) -> TagValueSource
    ) throws(Failure) -> TagValueSource {
        var sources: [TagValueSource] = []
        for part in parts {
            switch part {
            case .text(let text): sources.append(.fixed(.string(text)))
            case .variable(let name): sources.append(try variable(name))
            }
        }
        return sources.count == 1 ? sources[0] : .text(sources)
    }
}

extension Substring {
    /// Returns the place of the first two `sign` in a row.
    fileprivate func firstPair(of sign: Character) -> Index? {
        zip(indices, indices.dropFirst()).first { self[$0] == sign && self[$1] == sign }?.0
    }

    /// Returns the place of the last two `sign` in a row.
    fileprivate func lastPair(of sign: Character) -> Index? {
        zip(indices.dropFirst().reversed(), indices.dropLast().reversed())
            .first { self[$0] == sign && self[$1] == sign }?.1
    }
}
