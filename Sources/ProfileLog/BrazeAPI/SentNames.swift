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

/// Where the objects of a track request are in its bytes: looked for at the first question.
final class SentObjects {
    private let outline: JSONOutline
    private let end: Int
    private lazy var objects = {
        var objects = PerArray<[Range<Int>]>(repeating: [])
        for (key, value) in outline.members(of: 0..<end) ?? [] {
            guard let array = TrackArray(rawValue: key.text) else { continue }
            objects[array] = outline.objects(of: value) ?? []
        }
        return objects
    }()

    init(_ request: [UInt8]) {
        outline = JSONOutline(request)
        end = request.count
    }

    /// The keys of an object, in the order in which they were sent; nil if there is no such object.
    func keys(ofObjectAt index: Int, in array: TrackArray) -> [Name]? {
        members(ofObjectAt: index, in: array)?.map(\.key)
    }

    /// The keys of the object that is the member `key` of another one, in the order in which they were sent; nil if
    /// there is none.
    func keys(of key: Name, ofObjectAt index: Int, in array: TrackArray) -> [Name]? {
        let member = members(ofObjectAt: index, in: array)?.first { $0.key == key }
        return member.flatMap { outline.members(of: $0.value)?.map(\.key) }
    }

    private func members(ofObjectAt index: Int, in array: TrackArray) -> [(key: Name, value: Range<Int>)]? {
        let objects = objects[array]
        return objects.indices.contains(index) ? outline.members(of: objects[index]) : nil
    }
}
