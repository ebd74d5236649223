internal import Foundation

/// Countries for `country`, which may be a name where a code belongs (spec/rest-api 1.4).
enum CountryCodes {
    /// The code of ISO 3166-1 alpha-2 for a code in either case or for an English name, as Foundation has it; nil if it is neither.
    static func code(_ text: String) -> String? {
        let upper = text.uppercased()
        let name = text.lowercased()
        return otherNames[name] ?? (all.contains(upper) ? upper : byName[name])
    }

    /// Names that are common and not Foundation's.
    private static let otherNames: [String: String] = [
        "usa": "US", "u.s.a.": "US", "u.s.": "US", "united states of america": "US", "america": "US", "uk": "GB",
        "u.k.": "GB", "great britain": "GB", "britain": "GB", "england": "GB", "scotland": "GB", "wales": "GB",
        "northern ireland": "GB", "republic of ireland": "IE", "czech republic": "CZ", "holland": "NL",
        "the netherlands": "NL", "turkey": "TR", "korea": "KR", "republic of korea": "KR", "russian federation": "RU",
        "viet nam": "VN", "uae": "AE", "hong kong": "HK", "macau": "MO", "macao": "MO", "taiwan": "TW",
        "ivory coast": "CI", "burma": "MM", "macedonia": "MK", "swaziland": "SZ", "cape verde": "CV",
    ]

    private static let all = Set(Locale.Region.isoRegions.map(\.identifier).filter { $0.count == 2 })

    private static let byName: [String: String] = {
        let english = Locale(identifier: "en_US")
        let names = all.sorted().compactMap { code in
            english.localizedString(forRegionCode: code).map { ($0.lowercased(), code) }
        }
        return Dictionary(names, uniquingKeysWith: { first, _ in first })
    }()
}
