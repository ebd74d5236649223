/// A copy-on-write value: a copy costs one retain.
struct Shared<Value: Sendable>: Sendable {
    /// `@unchecked Sendable`: the value is changed only while there is one copy.
    private final class Box: @unchecked Sendable {
        // Without the check of exclusive access, which costs time at each read: `Shared` is a value and is checked.
        @exclusivity(unchecked) var value: Value

        init(_ value: Value) { self.value = value }
    }

    private var box: Box

    init(_ value: Value) { box = Box(value) }

    var value: Value {
        @inline(__always) _read { yield box.value }
        @inline(__always) _modify {
            if !isKnownUniquelyReferenced(&box) { box = Box(box.value) }
            yield &box.value
        }
    }
}
