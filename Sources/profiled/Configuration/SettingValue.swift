internal import ArgumentParser
internal import ProfileLog

/// A value that a setting can have, from one word of a command line, of the environment or of the file.
protocol SettingValue: Sendable {
    /// Reads `word`; nil if it has another form.
    init?(word: String)
    /// As ``profiled config show`` tells it.
    var json: AttributeValue { get }
    /// Tells whether it has several words, with spaces between them; in the file they are a list.
    static var isList: Bool { get }
}

extension SettingValue {
    static var isList: Bool { false }
}

extension Int: SettingValue {
    init?(word: String) { self.init(word) }
    var json: AttributeValue { .int(Int64(self)) }
}

extension String: SettingValue {
    init?(word: String) {
        if word.isEmpty { return nil }
        self = word
    }
    var json: AttributeValue { .string(self) }
}

extension Bool: SettingValue {
    init?(word: String) { self.init(word) }
    var json: AttributeValue { .bool(self) }
}

/// A time in whole seconds: `90`, `90s`, `5m`, `12h` or `1d`.
struct Seconds: SettingValue, ExpressibleByArgument, ExpressibleByIntegerLiteral, Equatable {
    let count: Int

    init(integerLiteral count: Int) { self.count = count }

    init?(word: String) {
        let units: [Character: Int] = ["s": 1, "m": 60, "h": 3_600, "d": 86_400]
        let unit = word.last.flatMap { units[$0] }
        let digits = unit == nil ? word[...] : word.dropLast()
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (48...57).contains($0) }), let number = Int(digits) else {
            return nil
        }
        let (count, isTooLarge) = number.multipliedReportingOverflow(by: unit ?? 1)
        if isTooLarge { return nil }
        self.count = count
    }

    init?(argument: String) { self.init(word: argument) }

    var duration: Duration { .seconds(count) }
    var json: AttributeValue { .int(Int64(count)) }
}

extension ServiceOptions.BaseURL: SettingValue {
    init?(word: String) { self.init(argument: word) }
    var json: AttributeValue { .string(text) }
}

extension ServiceOptions.LogFormat: SettingValue {
    init?(word: String) { self.init(rawValue: word) }
    var json: AttributeValue { .string(rawValue) }
}

extension TLSFiles.ClientAuth: SettingValue {
    init?(word: String) { self.init(rawValue: word) }
    var json: AttributeValue { .string(rawValue) }
}

/// An element of a setting that is a list.
protocol SettingElement: Sendable {
    init?(argument: String)
    var text: String { get }
}

extension RateLimit: SettingElement {}

extension Array: SettingValue where Element: SettingElement {
    init?(word: String) {
        let elements = word.split(separator: " ").map { Element(argument: String($0)) }
        if elements.contains(where: { $0 == nil }) { return nil }
        self = elements.compactMap(\.self)
    }
    static var isList: Bool { true }
    var json: AttributeValue { .array(map { .string($0.text) }) }
}
