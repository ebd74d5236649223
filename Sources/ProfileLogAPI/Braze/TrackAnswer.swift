internal import ProfileLog

/// The answer to a track request (spec/rest-api 1.8): Braze's members in their order, then `dropped`, which is ours.
enum TrackAnswer {
    /// 201, or 400 if every object was refused.
    static func answer(_ decision: TrackDecision) -> APIAnswer {
        var json = JSONWriter()
        json.beginObject()
        for array in TrackArray.allCases where decision.processed[array] > 0 {
            json.key(array.processedKey)
            json.value(decision.processed[array])
        }
        json.key("message")
        json.value(decision.refusesAll ? TrackBody.nothingValid : "success")
        write(decision, to: &json)
        json.endObject()
        return APIAnswer(
            status: decision.refusesAll ? 400 : 201, body: json.bytes,
            code: decision.refusesAll ? "nothing_valid" : nil)
    }

    /// `errors` and `dropped`, each only if there are some.
    static func write(_ decision: TrackDecision, to json: inout JSONWriter) {
        if !decision.errors.isEmpty {
            json.key("errors")
            json.array(decision.errors) { json, error in
                json.beginObject()
                json.member("type", error.type)
                json.member("input_array", error.array.rawValue)
                json.key("index")
                json.value(error.index)
                json.endObject()
            }
        }
        if !decision.dropped.isEmpty {
            json.key("dropped")
            json.array(decision.dropped) { json, drop in
                json.beginObject()
                json.member("reason", drop.reason)
                json.member("input_array", drop.array.rawValue)
                json.key("index")
                json.value(drop.index)
                json.member("field", drop.field)
                json.endObject()
            }
        }
    }
}

extension APIProblem {
    /// The problem in the REST API's form: `message` is what clients of Braze read.
    var messageAnswer: APIAnswer {
        var json = JSONWriter()
        json.beginObject()
        json.member("message", error)
        json.member("remedy", remedy)
        json.member("code", code)
        json.member("place", place)
        json.endObject()
        return APIAnswer(status: status, body: json.bytes, allow: allow, code: code)
    }
}
