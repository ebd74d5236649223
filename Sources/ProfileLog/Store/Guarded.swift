public import Glibc

/// A value under a readers-writer lock: many may read it at once, one may change it.
///
/// `@unchecked Sendable`: `value` is touched under the lock only.
@usableFromInline
package final class Guarded<Value: ~Copyable>: @unchecked Sendable {
    @usableFromInline let lock: UnsafeMutablePointer<pthread_rwlock_t>
    // Through a pointer: the lock is the exclusivity check.
    @usableFromInline let value: UnsafeMutablePointer<Value>

    package init(_ value: consuming Value) {
        self.value = .allocate(capacity: 1)
        self.value.initialize(to: value)
        lock = .allocate(capacity: 1)
        lock.initialize(to: pthread_rwlock_t())
        pthread_rwlock_init(lock, nil)
    }

    deinit {
        pthread_rwlock_destroy(lock)
        lock.deallocate()
        value.deinitialize(count: 1)
        value.deallocate()
    }

    @inlinable
    @inline(__always)
    package func withReading<Result, Failure: Error>(
        _ body: (borrowing Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        pthread_rwlock_rdlock(lock)
        defer { pthread_rwlock_unlock(lock) }
        return try body(value.pointee)
    }

    /// Reads without the lock: only for the thread that may change the value.
    @inlinable
    @inline(__always)
    package func withoutLock<Result, Failure: Error>(
        _ body: (borrowing Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(value.pointee)
    }

    @inlinable
    @inline(__always)
    package func withWriting<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        pthread_rwlock_wrlock(lock)
        defer { pthread_rwlock_unlock(lock) }
        return try body(&value.pointee)
    }

    /// As `withWriting`, if the lock is free now; nil otherwise.
    package func tryWriting<Result>(_ body: (inout Value) -> Result) -> Result? {
        guard pthread_rwlock_trywrlock(lock) == 0 else { return nil }
        defer { pthread_rwlock_unlock(lock) }
        return body(&value.pointee)
    }
}
