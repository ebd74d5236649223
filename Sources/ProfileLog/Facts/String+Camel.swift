extension String {
    /// The words of a name in camel case: `external`, `ID` and `renamed` of `externalIDRenamed`.
    var camelWords: [String] {
        let letters = Array(self)
        var words: [String] = []
        for (index, letter) in letters.enumerated() {
            let isFirst =
                index == 0
                || letter.isUppercase
                    && (!letters[index - 1].isUppercase || letters.dropFirst(index + 1).first?.isLowercase == true)
            if isFirst { words.append("") }
            words[words.count - 1].append(letter)
        }
        return words.map { $0.allSatisfy(\.isUppercase) ? $0 : $0.lowercased() }
    }

    /// A name in camel case as the JSON forms have it: `apple_push` for `applePush`.
    var snakeCase: String { camelWords.joined(separator: "_") }
}
