internal import ProfileLogRequests

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
