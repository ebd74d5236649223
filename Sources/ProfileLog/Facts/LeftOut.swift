/// Something of a request that was not stored, and why (`ProfileEvent.objectsLeftOut`). It names fields and holds no
/// value.
public struct LeftOut: Hashable, Sendable {
    /// The request's array.
    package var list: String
    /// The object's place in it, from 0.
    package var index: Int
    /// What was left out of the object; nil if all of it was.
    package var field: String?
    /// Why.
    package var reason: String

    /// The object at `index` of `list`, or a field of it, was left out for `reason`.
    package init(list: String, index: Int, field: String? = nil, reason: String) {
        self.list = list
        self.index = index
        self.field = field
        self.reason = reason
    }

    /// Without the name of the field: a person may have chosen it, and what is about nobody known cannot be erased.
    package var anonymous: LeftOut { LeftOut(list: list, index: index, reason: reason) }
}
