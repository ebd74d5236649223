internal import ProfileLogGuide

extension JSONWriter {
    /// Writes a text member, unless there is none.
    package mutating func member(_ key: String, _ text: String?) {
        guard let text else { return }
        self.key(key)
        value(text)
    }

    /// Writes a time member; `null` if there is none.
    package mutating func member(_ key: String, _ time: Timestamp?) {
        self.key(key)
        if let time { value(time) } else { null() }
    }

    /// Writes an array, each element by `write`.
    package mutating func array<Element>(
        _ elements: some Sequence<Element>, _ write: (inout JSONWriter, Element) throws -> Void
    ) rethrows {
        beginArray()
        for element in elements { try write(&self, element) }
        endArray()
    }

    /// An object that says something about the element `index` of `array`.
    package mutating func place(_ key: String, _ text: String, _ array: String, _ index: Int) {
        beginObject()
        member(key, text)
        member("input_array", array)
        self.key("index")
        value(index)
        endObject()
    }
}
