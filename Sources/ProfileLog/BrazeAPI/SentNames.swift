internal import ProfileLogRequests

/// The names in a track request that its sender chose. The same request, sent again, brings them along: what is
/// remembered of its answer needs none of them.
struct SentNames {
    private let reader: TrackReader
    private let body: TrackBody?
    /// The object that was asked for last: the fields of one come together.
    private var last: Fields?

    /// - Parameter body: nil if it cannot be read any more, as under other limits.
    init(_ reader: TrackReader, _ body: TrackBody?) {
        self.reader = reader
        self.body = body
    }

    /// What the fields of an object may be called in an answer, in an order that the object has each time.
    private struct Fields {
        let array: TrackArray
        let index: Int
        let names: [Name]
        let places: [Name: Int]
    }

    /// A number for a field of an object; nil if the object has no field of this name.
    mutating func place(of name: String, in array: TrackArray, at index: Int) -> Int? {
        fields(array, index).places[Name(name)]
    }

    /// The field with this number.
    mutating func name(at place: Int, in array: TrackArray, at index: Int) -> String? {
        let names = fields(array, index).names
        return names.indices.contains(place) ? names[place].text : nil
    }

    /// The whole text with which an object was refused, of which the log keeps `kept`.
    func type(of kept: String, in array: TrackArray, at index: Int) -> String {
        guard let objects = body?[array], objects.indices.contains(index) else { return kept }
        do throws(TrackFault) {
            _ = try reader.object(objects[index].get(), in: array, at: index)
        } catch .object(let type, kept) {
            return type
        } catch {}
        return kept
    }

    private mutating func fields(_ array: TrackArray, _ index: Int) -> Fields {
        if let last, last.array == array, last.index == index { return last }
        let keys = reader.sent.keys(ofObjectAt: index, in: array) ?? []
        let properties = reader.sent.keys(of: WireNames.properties, ofObjectAt: index, in: array) ?? []
        let names =
            keys + keys.map { Name(TrackReader.shown($0)) } + properties.map { Name(TrackReader.shown(property: $0)) }
        let places = Dictionary(names.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
        let fields = Fields(array: array, index: index, names: names, places: places)
        last = fields
        return fields
    }
}
