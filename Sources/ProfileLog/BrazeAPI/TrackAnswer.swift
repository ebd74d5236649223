internal import ProfileLogRequests

/// What is answered to a track request (spec/rest-api 1.8): Braze's members in their order, then `dropped`, which is
/// ours.
struct TrackAnswer {
    private var processed = PerArray(repeating: 0)
    private var errors: [TrackError] = []
    private var dropped: [TrackDrop] = []
    private var refusesAll = false

    init(_ decision: TrackDecision) {
        processed = decision.processed
        errors = decision.errors
        dropped = decision.dropped
        refusesAll = decision.refusesAll
    }

    /// 201, or 400 if every object was refused.
    var answer: APIAnswer {
        APIAnswer(status: refusesAll ? 400 : 201, body: body, code: refusesAll ? "nothing_valid" : nil)
    }

    private var body: [UInt8] {
        var json = JSONWriter()
        json.object { json in
            for array in TrackArray.allCases where processed[array] > 0 {
                json.member(array.processedKey, processed[array])
            }
            json.member("message", refusesAll ? TrackBody.nothingValid : "success")
            writeLeftOut(to: &json)
        }
        return json.bytes
    }

    /// `errors` and `dropped`, each only if there are some.
    func writeLeftOut(to json: inout JSONWriter) {
        if !errors.isEmpty {
            json.objects("errors", errors) { json, error in
                json.member("type", error.type)
                json.member("input_array", error.array.rawValue)
                json.member("index", error.index)
            }
        }
        if !dropped.isEmpty {
            json.objects("dropped", dropped) { json, drop in
                json.member("reason", drop.reason)
                json.member("input_array", drop.array.rawValue)
                json.member("index", drop.index)
                switch drop.field {
                case nil: break
                case .named(let name): json.member("field", name)
                case .at(let place):
                    json.member("field", place)
                }
            }
        }
    }
}

// MARK: - As it is remembered under a key

extension TrackAnswer {
    /// The answer without the names that the sender chose: the record that holds it is one person's, the request may be
    /// about many.
    func remembered(_ names: inout SentNames) -> [UInt8] {
        var nameless = self
        for index in errors.indices { nameless.errors[index].type = errors[index].kept }
        for (index, drop) in dropped.enumerated() {
            guard case .named(let name) = drop.field else { continue }
            nameless.dropped[index].field = names.place(of: name, in: drop.array, at: drop.index).map { .at($0) }
        }
        return nameless.body
    }

    /// What `remembered` gave, with the names as the same request, sent again, has them.
    init(remembered body: [UInt8], _ names: inout SentNames) throws {
        let json = try JSON.parse(body)
        for array in TrackArray.allCases {
            processed[array] = json[Name(array.processedKey)]?.asInteger.map { Int($0) } ?? 0
        }
        for entry in json["errors"]?.asArray ?? [] {
            guard let (array, index) = entry.place, let kept = entry["type"]?.asText else { continue }
            let type = names.type(of: kept, in: array, at: index)
            errors.append(TrackError(type: type, kept: kept, array: array, index: index))
        }
        for entry in json["dropped"]?.asArray ?? [] {
            guard let (array, index) = entry.place, let reason = entry["reason"]?.asText else { continue }
            var drop = TrackDrop(reason: reason, array: array, index: index)
            switch entry["field"] {
            case .string(let name): drop.field = .named(name)  // from before names were left out
            case .int(let place): drop.field = names.name(at: Int(place), in: array, at: index).map { .named($0) }
            default: break
            }
            dropped.append(drop)
        }
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
