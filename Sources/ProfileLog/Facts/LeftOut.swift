/// Something of a request that was not stored, and why (`ProfileEvent.objectsLeftOut`). It names fields and holds no value.
public struct LeftOut: Hashable, Sendable {
    /// The request's array.
    public var list: String
    /// The object's place in it, from 0.
    public var index: Int
    /// What was left out of the object; nil if all of it was.
    public var field: String?
    /// Why.
    public var reason: String

    /// The object at `index` of `list`, or a field of it, was left out for `reason`.
    public init(list: String, index: Int, field: String? = nil, reason: String) {
        self.list = list
        self.index = index
        self.field = field
        self.reason = reason
    }

    /// Without the name of the field: a person may have chosen it, and what is about nobody known cannot be erased.
    package var anonymous: LeftOut { LeftOut(list: list, index: index, reason: reason) }
}
