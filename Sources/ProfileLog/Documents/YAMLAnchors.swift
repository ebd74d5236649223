/// Anchors of a YAML text that is not yet parsed.
///
/// Ten lines of anchors and aliases can stand for billions of values, and the parser compares the keys of mappings
/// through them. So such a text is refused before the parse.
enum YAMLAnchors {
    /// Returns the place of the first anchor, `&name`, that an alias repeats, `*name`; nil if there is none.
    ///
    /// Names that only look like it, in comments and in quotes, count too; `&nbsp;` alone is text.
    static func firstRepeated(in yaml: String) -> YAMLNode.Spot? {
        var anchors: [String: (index: Int, spot: YAMLNode.Spot)] = [:]
        var aliases: Set<String> = []
        let scalars = yaml.unicodeScalars
        var spot: YAMLNode.Spot = (1, 1)
        for (count, index) in scalars.indices.enumerated() {
            let scalar = scalars[index]
            if scalar == "&" || scalar == "*" {
                let name = String(scalars[scalars.index(after: index)...].prefix(while: isOfName))
                if scalar == "*" {
                    aliases.insert(name)
                } else if anchors[name] == nil {
                    anchors[name] = (count, spot)
                }
            }
            spot = scalar == "\n" ? (spot.line + 1, 1) : (spot.line, spot.column + 1)
        }
        anchors[""] = nil
        return anchors.filter { aliases.contains($0.key) }.values.min { $0.index < $1.index }?.spot
    }

    /// As the parser takes names.
    private static func isOfName(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9", "_", "-": true
        default: false
        }
    }
}
