internal import Foundation

/// The two-letter codes of ISO 639-1, for `language` (spec/rest-api 1.4).
enum LanguageCodes {
    /// The code of ISO 639-1 in `text`, which may have a region after it (`en-US`), in either case; nil if there is
    /// none.
    static func code(_ text: String) -> String? {
        let code = text.prefix { $0 != "-" && $0 != "_" }.lowercased()
        return withdrawn[code] ?? (all.contains(code) ? code : nil)
    }

    /// Foundation calls Tagalog by the code of Filipino, which has three letters.
    private static let all = Set(
        Locale.LanguageCode.isoLanguageCodes.map(\.identifier).filter { $0.count == 2 } + ["tl"])

    /// Codes that the standard had until 1989, which Java went on writing, and those of today.
    private static let withdrawn = ["iw": "he", "in": "id", "ji": "yi"]
}
