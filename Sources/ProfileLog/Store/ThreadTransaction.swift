internal import Glibc

/// The environment in whose transaction this thread is: closing it would wait for itself.
package enum ThreadTransaction {
    private static let key: pthread_key_t = {
        var key: pthread_key_t = 0
        let code = pthread_key_create(&key, nil)
        precondition(code == 0, "The system has no room for a value of each thread.")
        return key
    }()

    /// Only its address is compared.
    static var environment: UnsafeMutableRawPointer? {
        get { pthread_getspecific(key) }
        set { pthread_setspecific(key, newValue) }
    }

    /// Tells whether this thread is in a transaction.
    package static var isOpen: Bool { environment != nil }

    /// Notes that a transaction of `environment` begins. Returns what was noted before, to be noted again when it ends.
    static func begin(in environment: Environment) -> UnsafeMutableRawPointer? {
        let outer = self.environment
        self.environment = Unmanaged.passUnretained(environment).toOpaque()
        return outer
    }
}
