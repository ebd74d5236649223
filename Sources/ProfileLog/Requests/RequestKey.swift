internal import ProfileLogSnippets

/// The idempotency key of a request that is one append: sent again, it changes nothing and gets the remembered answer
/// of the first.
package struct RequestKey: Sendable {
    package let text: String
    fileprivate let digest: [UInt8]

    /// Returns nil if the request has no key.
    package init?(_ request: APIRequest) throws {
        guard let key = try Self.text(of: request) else { return nil }
        self.init(key, of: request)
    }

    /// The request's key where it is not in the header.
    package init(_ key: String, of request: APIRequest) {
        (text, digest) = (key, RequestNote.digest(request))
    }

    /// A key that no header can be: whatever else the request says, the first answer to `parts` is repeated.
    package init(reserved use: String, for parts: [String]) {
        digest = ContentHash.of(Array(parts.joined(separator: "\0").utf8))
        text = "\0\(use)/\(Hexadecimal.text(digest))"
    }

    /// The request's idempotency key, if it has one.
    package static func text(of request: APIRequest) throws -> String? {
        try request.refuseIfMatch()
        guard let key = request.idempotencyKey else { return nil }
        if key.isEmpty { throw APIError.invalid("Idempotency-Key", "must not be empty") }
        return key
    }

    /// The note of an append under this key, which remembers `answer`.
    package func note(remembering answer: [UInt8] = []) -> [UInt8] { RequestNote(digest: digest, answer: answer).bytes }

    /// Returns what `receipt`, of an append under this key, remembers of the first answer. Throws if that was to
    /// another request. After an erasure only the key says that the request is the same, and only its success is
    /// known.
    package func remembered(by receipt: AppendReceipt) throws -> [UInt8] {
        if receipt.isErased { return RequestNote.success }
        guard let note = RequestNote(receipt.note), note.digest == digest else {
            throw AppendError.keyReused(position: receipt.first)
        }
        return note.answer
    }

    /// The first answer, as `receipt` remembers it.
    package func answer(to receipt: AppendReceipt) throws -> APIAnswer {
        APIAnswer(status: 201, body: try remembered(by: receipt))
    }
}

extension AppendBuilder {
    /// Makes the append of a request under its `key`; nil if that is nothing, and no key is to be remembered.
    package consuming func finish(
        under key: RequestKey?, remembering answer: @autoclosure () -> [UInt8]
    ) throws -> PreparedAppend? {
        guard let key else { return isEmpty ? nil : try finish() }
        // A key is stored with an event: here one about no skipped object.
        if isEmpty { try leaveOut([], of: nil) }
        return try finish(
            idempotencyKey: key.text, note: key.note(remembering: answer()), content: key.digest)
    }
}

extension RequestStore {
    /// The append that was stored under `key`; nil if there is none. Throws if it was that of another request.
    package func append(under key: RequestKey?) throws -> (receipt: AppendReceipt, remembered: [UInt8])? {
        guard let key, let receipt = try log.reader.events.append(underKey: key.text) else { return nil }
        return (receipt, try key.remembered(by: receipt))
    }

    /// The first answer to a request that comes again under its `key`; nil if it comes for the first time.
    package func answer(under key: RequestKey?) throws -> APIAnswer? {
        try append(under: key).map { APIAnswer(status: 201, body: $0.remembered) }
    }

    /// Stores what `decide` adds to a builder, in one append under `key`, and answers with what it returns; if the same
    /// request was stored in between, as that was answered.
    ///
    /// - Parameter capacity: events for which the builder has room from the start.
    package func decide(
        under key: RequestKey?, capacity: Int = 1,
        _ decide: @escaping @Sendable (DecisionView, inout AppendBuilder) throws -> APIAnswer
    ) async throws -> APIAnswer {
        let (answer, receipt) = try await self.decide { view in
            var builder = view.log.prepare(capacity: capacity)
            let answer = try decide(view, &builder)
            return Decision(answer, storing: try builder.finish(under: key, remembering: answer.body))
        }
        guard let key, let receipt, receipt.isRepetition else { return answer }
        return try key.answer(to: receipt)
    }
}

/// The note of an append under an idempotency key about its request: the request, and the first answer.
package struct RequestNote {
    /// A hash of the path and the body.
    package let digest: [UInt8]
    /// The part of the first answer that cannot be had from the log again, nor from the request when it comes again: no
    /// values, and no names that the sender chose. The record that has it is one person's, and stays when others of the
    /// request are erased.
    package let answer: [UInt8]

    /// The first byte of a note: the door through which the append came, and the note's form.
    private static let form: UInt8 = 1
    private static let digestBytes = 16

    /// The answer to a request of which nothing else is known any more.
    package static let success = Array(#"{"message":"success"}"#.utf8)

    /// As it is stored.
    package var bytes: [UInt8] { [Self.form] + digest + answer }

    /// A hash of a request: equal for the same path and the same bytes of body.
    package static func digest(_ request: APIRequest) -> [UInt8] {
        ContentHash.of(Array(request.path.utf8) + [0] + request.body)
    }
}

extension RequestNote {
    /// Reads a stored note; nil if it is none of ours.
    package init?(_ bytes: [UInt8]) {
        guard bytes.first == Self.form, bytes.count > Self.digestBytes else { return nil }
        self.init(
            digest: Array(bytes[1...Self.digestBytes]), answer: Array(bytes[(Self.digestBytes + 1)...]))
    }
}
