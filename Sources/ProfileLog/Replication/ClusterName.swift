/// Names of nodes and of clusters: they become a part of names at the brokers.
package enum ClusterName {
    /// The rule for a name, as the end of a sentence.
    package static let rule = "must be 1 to 63 characters of a-z, 0-9 and -"

    package static func isName(_ text: String) -> Bool {
        (1...63).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }
}
