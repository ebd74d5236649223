/// A pointer of libnats to what the library guards by a lock of its own, so that any thread may use it.
struct LockedPointer: Sendable {
    private let address: UInt

    init(_ pointer: OpaquePointer) { address = UInt(bitPattern: pointer) }

    var pointer: OpaquePointer? { OpaquePointer(bitPattern: address) }
}
