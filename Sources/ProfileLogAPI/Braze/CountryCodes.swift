internal import Foundation

/// Countries for `country`, which may be a name where a code belongs (spec/rest-api 1.4).
enum CountryCodes {
    /// The code of ISO 3166-1 alpha-2 for a code in either case or for an English name, as Foundation has it; nil if it is neither.
    static func code(_ text: String) -> String? {
        let upper = text.uppercased()
        return all.contains(upper) ? upper : byName[text.lowercased()]
    }

    private static let all = Set(Locale.Region.isoRegions.map(\.identifier).filter { $0.count == 2 })

    private static let byName: [String: String] = {
        let english = Locale(identifier: "en_US")
        let names = all.sorted().compactMap { code in
            english.localizedString(forRegionCode: code).map { ($0.lowercased(), code) }
        }
        return Dictionary(names, uniquingKeysWith: { first, _ in first })
    }()
}
