import Foundation
import ProfileLog
import Synchronization
import Testing

@Suite("Threads")
struct ThreadNameTests {
    @Test("A thread has its name where the system's tools look for it")
    func name() {
        let name = Mutex("")
        let done = DispatchSemaphore(value: 0)
        startThread("log-writer") {
            name.withLock { $0 = (try? String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8)) ?? "" }
            done.signal()
        }
        done.wait()
        #expect(name.withLock { $0 } == "log-writer\n")
    }
}
