/// Something of a request that was not stored, and why (`ProfileEvent.objectsLeftOut`). It names fields and holds no
/// value.
public struct LeftOut: Hashable, Sendable {
    /// The request's array.
    package var list: String
    /// The object's place in it, from 0.
    package var index: Int
    /// The field that was skipped; nil if the whole object was.
    package var field: String?
    /// The reason.
    package var reason: String

    /// The object at `index` of `list`, or a field of it, was skipped for `reason`.
    package init(list: String, index: Int, field: String? = nil, reason: String) {
        self.list = list
        self.index = index
        self.field = field
        self.reason = reason
    }

    /// Without the field's name, which may be personal: without a user it could not be erased.
    package var anonymous: LeftOut { LeftOut(list: list, index: index, reason: reason) }
}
