internal import ArgumentParser
internal import Foundation
internal import ProfileLog

/// The brokers of a cluster, as in `nats://a,b:4223,c` or `tls://a,b,c`: the scheme of the first counts for those after
/// it.
struct BrokerList: SettingValue {
    /// Each with its scheme.
    let urls: [String]

    static var isList: Bool { true }

    init?(word: String) {
        var urls: [String] = []
        var scheme: String?
        for part in word.split(whereSeparator: { $0 == "," || $0 == " " }) {
            let sides = String(part).components(separatedBy: "://")
            guard sides.count <= 2, let place = sides.last, Self.isPlace(place) else { return nil }
            if sides.count == 2 {
                guard ["nats", "tls"].contains(sides[0]), scheme == nil || scheme == sides[0] else { return nil }
                scheme = sides[0]
            }
            guard let scheme else { return nil }
            urls.append("\(scheme)://\(place)")
        }
        if urls.isEmpty { return nil }
        self.urls = urls
    }

    /// Reads the value of the flag; an error names the form.
    @Sendable static func typed(_ word: String) throws -> BrokerList {
        guard let brokers = BrokerList(word: word) else {
            throw ValidationError("it \(Setting.named("cluster.replicate").words.rule).")
        }
        return brokers
    }

    var json: AttributeValue { .array(urls.map { .string($0) }) }

    /// Tells whether it is a host, with a port or without. A user and a password would be a secret in a setting.
    private static func isPlace(_ text: String) -> Bool {
        guard let url = URL(string: "nats://\(text)") else { return false }
        return url.host()?.isEmpty == false && url.path().isEmpty && url.query() == nil && url.fragment() == nil
            && !text.contains("@") && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }
}

/// URLs with commas between them.
struct URLList: SettingValue, ExpressibleByArgument {
    let urls: [String]

    static var isList: Bool { true }

    init?(word: String) {
        let parts = word.split(whereSeparator: { $0 == "," || $0 == " " })
        urls = parts.compactMap { ServiceOptions.BaseURL(argument: String($0))?.text }
        if urls.isEmpty || urls.count < parts.count || urls.contains(where: { $0.contains("@") }) { return nil }
    }

    init?(argument: String) { self.init(word: argument) }

    var json: AttributeValue { .array(urls.map { .string($0) }) }
}
