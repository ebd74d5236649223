internal import CPrefetch

extension Array {
    /// Begins to load the first elements into the processor's cache, and does not wait for them.
    @inline(__always)
    func prefetch() {
        // The array's only word points to its elements. To ask for their address would wait for the first line.
        profilelog_prefetch(unsafeBitCast(self, to: UnsafeRawPointer.self), 256)
    }
}
