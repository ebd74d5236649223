internal import ProfileLogSnippets

/// The idempotency key of a request that is one append: sent again, it changes nothing and gets the remembered answer
/// of the first.
package struct RequestKey: Sendable {
    fileprivate let text: String
    fileprivate let digest: [UInt8]

    /// Returns nil if the request has no key.
    package init?(_ request: APIRequest) throws {
        guard let key = try Self.text(of: request) else { return nil }
        text = key
        digest = RequestNote.digest(request)
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
        if key.isEmpty { throw APIProblem.invalid("Idempotency-Key", "must not be empty") }
        return key
    }

    /// The append of what is in `builder`, with `answer` to be remembered.
    fileprivate func finish(_ builder: consuming AppendBuilder, answer: [UInt8]) throws -> PreparedAppend {
        // A key is stored with an event: here one about no skipped object.
        if builder.isEmpty { try builder.leaveOut([], of: nil) }
        return try builder.finish(
            idempotencyKey: text, note: RequestNote(digest: digest, answer: answer).bytes)
    }
}

extension AppendBuilder {
    /// Makes the append of a request under its `key`; nil if that is nothing, and no key is to be remembered.
    package consuming func finish(
        under key: RequestKey?, remembering answer: @autoclosure () -> [UInt8]
    ) throws -> PreparedAppend? {
        if let key { return try key.finish(self, answer: answer()) }
        return isEmpty ? nil : try finish()
    }
}

extension AppendReceipt {
    /// Throws if the same request was stored in between: ``RequestStore/once(under:known:first:)`` then repeats its
    /// answer.
    package func checkIsFirst() throws {
        if isRepetition { throw AppendError.keyReused(position: first) }
    }
}

extension RequestStore {
    /// Stores what `decide` adds to a builder, in one append under `key`, and answers with what it returns.
    ///
    /// - Parameter capacity: events for which the builder has room from the start.
    package func append(
        under key: RequestKey?, capacity: Int = 1,
        _ decide: @escaping @Sendable (DecisionView, inout AppendBuilder) throws -> APIAnswer
    ) async throws -> APIAnswer {
        try await decider.decide { view in
            var builder = view.log.prepare(capacity: capacity)
            let answer = try decide(view, &builder)
            guard let append = try builder.finish(under: key, remembering: answer.body) else { return .answer(answer) }
            return .store(append) { receipt in
                try receipt.checkIsFirst()
                return answer
            }
        }
    }

    /// As ``once(under:known:first:)``; what is remembered is the whole answer, of status 201.
    package func once(under key: RequestKey?, first: () async throws -> APIAnswer) async throws -> APIAnswer {
        try await once(under: key, known: { _, note in APIAnswer(status: 201, body: note.answer) }, first: first)
    }

    /// Answers a request by `known`, from its stored note, if its `key` was used before, also by the same request
    /// on another thread; else by `first`.
    package func once(
        under key: RequestKey?, known: (AppendReceipt, RequestNote) throws -> APIAnswer,
        first: () async throws -> APIAnswer
    ) async throws -> APIAnswer {
        guard let key else { return try await first() }
        if let earlier = try log.reader.events.append(underKey: key.text) {
            return try known(earlier, note(of: earlier, key.digest))
        }
        do {
            return try await first()
        } catch AppendError.keyReused(let position) {
            // The same request was stored first, and its IDs may lead to other users since.
            guard let earlier = try log.reader.events.append(underKey: key.text) else {
                throw AppendError.keyReused(position: position)
            }
            return try known(earlier, note(of: earlier, key.digest))
        }
    }

    /// The note of an append, which must be that of the request with this digest. If it was erased with a person, only
    /// the key says that the request is the same, and only its success is known.
    package func note(of receipt: AppendReceipt, _ digest: [UInt8]) throws -> RequestNote {
        if receipt.isErased { return RequestNote(digest: digest, answer: RequestNote.success) }
        guard let note = RequestNote(receipt.note), note.digest == digest else {
            throw AppendError.keyReused(position: receipt.first)
        }
        return note
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
