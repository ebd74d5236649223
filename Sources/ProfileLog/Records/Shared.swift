/// A value that copies share until one of them changes it: what is large and often passed on costs one retain.
struct Shared<Value: Sendable>: Sendable {
    /// `@unchecked Sendable`: the value is changed only while one copy has it alone.
    private final class Box: @unchecked Sendable {
        // Without the check of exclusive access, which each look would pay for: `Shared` is a value, and has it.
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
