internal import ProfileLogGuide

/// What an append under an idempotency key remembers of its request: which it was, and what the first answer said.
package struct RequestNote {
    /// A hash of the path and the body.
    package let digest: [UInt8]
    /// What the first answer said that cannot be had from the log again, nor from the request when it comes again: no
    /// values, and no names that the sender chose. The record that has it is one person's, and stays when others of the
    /// request are erased.
    package let answer: [UInt8]

    /// The first byte of a note: the door through which the append came, and the note's form.
    private static let form: UInt8 = 1
    private static let digestBytes = 16

    package init(digest: [UInt8], answer: [UInt8]) {
        self.digest = digest
        self.answer = answer
    }

    /// The answer to a request of which nothing else is known any more.
    package static let success = Array(#"{"message":"success"}"#.utf8)

    /// Reads a stored note; nil if it is none of ours.
    package init?(_ bytes: [UInt8]) {
        guard bytes.first == Self.form, bytes.count > Self.digestBytes else { return nil }
        digest = Array(bytes[1...Self.digestBytes])
        answer = Array(bytes[(Self.digestBytes + 1)...])
    }

    /// As it is stored.
    package var bytes: [UInt8] { [Self.form] + digest + answer }

    /// A hash of a request: equal for the same path and the same bytes of body.
    package static func digest(_ request: APIRequest) -> [UInt8] {
        ContentHash.of(Array(request.path.utf8) + [0] + request.body)
    }
}
