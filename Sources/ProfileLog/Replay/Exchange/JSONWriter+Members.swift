extension JSONWriter {
    /// Writes a member, its value by `write`.
    package mutating func member(_ key: String, _ write: (inout JSONWriter) throws -> Void) rethrows {
        self.key(key)
        try write(&self)
    }

    package mutating func member(_ key: String, _ value: Bool) { member(key) { $0.value(value) } }
    package mutating func member(_ key: String, _ value: Int) { member(key) { $0.value(value) } }
    package mutating func member(_ key: String, _ value: UInt64) { member(key) { $0.value(value) } }
    package mutating func member(_ key: String, _ value: Double) { member(key) { $0.value(value) } }
    package mutating func member(_ key: String, _ sum: ExactSum) { member(key) { $0.value(sum) } }
    package mutating func member(_ key: String, _ value: AttributeValue) { member(key) { $0.value(value) } }
    package mutating func member(_ key: String, _ time: OccurredAt) { member(key) { $0.value(time) } }

    /// Writes an object with a member for each currency.
    package mutating func member(_ key: String, _ revenue: [ProfileState.Revenue]) {
        object(key) { json in
            for revenue in revenue { json.member(revenue.currency, revenue.amount) }
        }
    }

    /// Writes a text member, unless there is none.
    package mutating func member(_ key: String, _ text: String?) {
        if let text { member(key) { $0.value(text) } }
    }

    /// Writes a time member; `null` if there is none.
    package mutating func member(_ key: String, _ time: Timestamp?) {
        member(key) { json in if let time { json.value(time) } else { json.null() } }
    }

    /// The bytes of an object with the members that `write` writes.
    package static func bytes(ofObject write: (inout JSONWriter) throws -> Void) rethrows -> [UInt8] {
        var json = JSONWriter()
        try json.object(write)
        return json.bytes
    }

    package mutating func object(_ write: (inout JSONWriter) throws -> Void) rethrows {
        beginObject()
        try write(&self)
        endObject()
    }

    /// Writes an object as a member.
    package mutating func object(_ key: String, _ write: (inout JSONWriter) throws -> Void) rethrows {
        self.key(key)
        try object(write)
    }

    /// Writes an array, each element by `write`.
    package mutating func array<Element>(
        _ elements: some Sequence<Element>, _ write: (inout JSONWriter, Element) throws -> Void
    ) rethrows {
        beginArray()
        for element in elements { try write(&self, element) }
        endArray()
    }

    /// Writes an array as a member.
    package mutating func array<Element>(
        _ key: String, _ elements: some Sequence<Element>, _ write: (inout JSONWriter, Element) throws -> Void
    ) rethrows {
        self.key(key)
        try array(elements, write)
    }

    /// Writes an array of objects as a member, the members of each by `write`.
    package mutating func objects<Element>(
        _ key: String, _ elements: some Sequence<Element>, _ write: (inout JSONWriter, Element) throws -> Void
    ) rethrows {
        try array(key, elements) { json, element in try json.object { try write(&$0, element) } }
    }

    /// Writes an array as a member, its elements by `write`.
    package mutating func array(_ key: String, _ write: (inout JSONWriter) throws -> Void) rethrows {
        self.key(key)
        beginArray()
        try write(&self)
        endArray()
    }

    /// An object that says something about the element `index` of `array`, or about one `field` of it.
    package mutating func place(_ key: String, _ text: String, _ array: String, _ index: Int, field: String? = nil) {
        object { json in
            json.member(key, text)
            json.member("input_array", array)
            json.member("index", index)
            json.member("field", field)
        }
    }
}
