internal import ProfileLogRequests

/// The answer to a track request (spec/rest-api 1.8): Braze's members in their order, then `dropped` and `notes`, which
/// are ours.
struct TrackAnswer {
    var processed = PerArray(repeating: 0)
    var errors: [TrackObjectError] = []
    var dropped: [TrackRefusal] = []
    /// Stored values that are likely to be a mistake.
    var notes: [TrackRefusal] = []
    var misspelt: [Misspelling] = []
    /// Tells whether no object was valid.
    var refusesAll = false

    /// 201, or 400 if every object was refused.
    var answer: APIAnswer {
        APIAnswer(status: refusesAll ? 400 : 201, body: body, code: refusesAll ? "nothing_valid" : nil)
    }

    /// The answer's JSON.
    var body: [UInt8] {
        JSONWriter.bytes { json in
            for array in TrackArray.allCases where processed[array] > 0 {
                json.member(array.processedKey, processed[array])
            }
            json.member("message", refusesAll ? TrackBody.nothingValid : "success")
            writeRefusals(to: &json)
        }
    }

    /// `errors`, `dropped` and `notes`, each only if there are some.
    func writeRefusals(to json: inout JSONWriter) {
        if !errors.isEmpty {
            json.array("errors", errors) { $0.place("type", $1.type, $1.array.rawValue, $1.index) }
        }
        if !dropped.isEmpty || !misspelt.isEmpty {
            json.array("dropped") { json in
                for drop in dropped { json.drop(drop) }
                for each in misspelt { json.object { $0.write(each) } }
            }
        }
        if !notes.isEmpty { json.array("notes", notes) { $0.drop($1) } }
    }
}

// MARK: - As it is remembered under a key

extension TrackAnswer {
    /// The answer under an idempotency key, the first time and each time after: without the names that the sender
    /// chose. The record that remembers it is one person's, the request may be about many.
    var nameless: TrackAnswer {
        var nameless = self
        for index in errors.indices { nameless.errors[index].type = errors[index].kept }
        for index in dropped.indices { nameless.dropped[index].field = nil }
        for index in misspelt.indices { nameless.misspelt[index].member = nil }
        return nameless
    }

    /// Reads the `body` of a nameless answer.
    init(remembered body: [UInt8]) throws {
        let json = try JSON.parse(body)
        for array in TrackArray.allCases {
            processed[array] = json[Name(array.processedKey)]?.asInteger.map { Int($0) } ?? 0
        }
        errors = (json["errors"]?.asArray ?? []).compactMap { entry in
            guard let (array, index) = entry.place, let type = entry["type"]?.asText else { return nil }
            return TrackObjectError(type: type, kept: type, array: array, index: index)
        }
        func drops(_ key: Name) -> [TrackRefusal] {
            (json[key]?.asArray ?? []).compactMap { entry in
                guard let (array, index) = entry.place, let reason = entry["reason"]?.asText else { return nil }
                return TrackRefusal(reason: reason, array: array, index: index, field: entry["field"]?.asText)
            }
        }
        (dropped, notes) = (drops("dropped"), drops("notes"))
        let reasons = (json["dropped"]?.asArray ?? []).filter { $0.place == nil }.compactMap { $0["reason"]?.asText }
        misspelt = TrackArray.allCases.map { Misspelling(meant: $0.rawValue) }.flatMap { known in
            reasons.filter { $0 == known.reason }.map { _ in known }
        }
    }
}

extension JSONWriter {
    fileprivate mutating func drop(_ drop: TrackRefusal) {
        place("reason", drop.reason, drop.array.rawValue, drop.index, field: drop.field)
    }
}

extension AttributeValue {
    /// The object of a request that an entry of an answer is about.
    fileprivate var place: (TrackArray, Int)? {
        guard let array = self["input_array"]?.asText.flatMap(TrackArray.init), let index = self["index"]?.asInteger
        else { return nil }
        return (array, Int(index))
    }
}

// MARK: - The form of the answers

extension AnswerShape {
    /// Entries of `errors`: the wrong parts of an object of the request.
    static let errors: AnswerShape = [.named("ObjectError", ["type": .text, "input_array": .text, "index": .integer])]

    /// Entries of `dropped`, which is ours: what was not stored, and why.
    static let dropped: AnswerShape = [
        .named("Dropped", ["reason": .text, "input_array?": .text, "index?": .integer, "field?": .text])
    ]

    /// Entries of `notes`, which is ours: stored values that are likely to be mistakes.
    static let notes: AnswerShape = ["notes?": [["reason": .text, "input_array": .text, "index": .integer]]]

    static let leftOut: AnswerShape = ["errors?": errors, "dropped?": dropped] + notes
    static let success: AnswerShape = ["message": .text]
}

extension TrackAnswer {
    static let shape: AnswerShape =
        [
            "attributes_processed?": .integer, "events_processed?": .integer, "purchases_processed?": .integer,
        ] + .success + .leftOut
}
