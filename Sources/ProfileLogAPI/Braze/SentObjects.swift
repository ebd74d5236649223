internal import ProfileLog

/// Where the objects of a track request stand in its bytes: looked for once, when somebody first asks.
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

    /// The keys of the object that is the member `key` of another one, in the order in which they were sent; nil if there is none.
    func keys(of key: Name, ofObjectAt index: Int, in array: TrackArray) -> [Name]? {
        let objects = objects[array]
        guard objects.indices.contains(index),
            let member = outline.members(of: objects[index])?.first(where: { $0.key == key })
        else { return nil }
        return outline.members(of: member.value)?.map(\.key)
    }
}
