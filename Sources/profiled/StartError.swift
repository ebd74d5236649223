internal import Foundation
internal import NIOCore
internal import ProfileLog
internal import ProfileLogBackup
internal import ProfileLogReplication
internal import ProfileLogRequests

struct StartError: Error, CustomStringConvertible {
    let sentence: String
    let remedy: String
    /// The command line is wrong, and nothing else: the exit status is that of a wrong flag.
    var isUsage = false

    init(_ sentence: String, remedy: String) { (self.sentence, self.remedy) = (sentence, remedy) }

    /// Says that `what`, the file at `path`, cannot be read, and why.
    init(unreadable what: String, _ path: String, remedy: String) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        defer { if descriptor >= 0 { close(descriptor) } }
        var byte: UInt8 = 0
        let reason =
            descriptor < 0 || read(descriptor, &byte, 1) < 0 ? ": \(String(cString: strerror(errno)))" : ""
        self.init("\(what) \(path) cannot be read\(reason).", remedy: remedy)
    }

    /// Translates `error`, from the store or from the socket. The names of the flags of its address begin with
    /// `prefix`.
    init(_ error: any Error, host: String, port: Int, flags prefix: String = "") {
        switch error {
        case let failure as StartError: self = failure
        case let errors as ConfigurationErrors: self.init(errors)
        case let error as ScratchFolder.FolderError: self.init(error.description, remedy: error.remedy)
        case let error as StorageError: self.init(error.description, remedy: error.commandRemedy)
        case let error as BackupError: self.init(error.description, remedy: error.remedy)
        case let error as StreamError: self.init(error.sentence, remedy: error.remedy)
        // From the fixtures; appends before the failed one are stored.
        case let error as AppendError: self.init(error.fact, remedy: error.commandRemedy)
        case let error as IOError: self.init(code: error.errnoCode, host: host, port: port, flags: prefix)
        case is SocketAddressError, is SocketAddressError.UnknownHost:
            self.init(
                "The host \(host) is not known.", remedy: "Correct --\(prefix)host; 127.0.0.1 is this machine alone.")
        default:
            self.init(
                "The service failed with an unexpected error: \(type(of: error)).",
                remedy: "Start it again with --log-level debug and report what it prints.")
        }
    }

    /// The first error; `config check` lists the others.
    private init(_ errors: ConfigurationErrors) {
        let first = errors.all.first
        let more = errors.all.count - 1
        let others = more == 1 ? "There is another error" : "There are \(more) other errors"
        self.init(
            first?.sentence ?? "The configuration cannot be used.",
            remedy: (first?.remedy ?? "") + (more > 0 ? " \(others): see `profiled config check`." : ""))
    }

    private init(code: Int32, host: String, port: Int, flags prefix: String) {
        switch code {
        case EADDRINUSE:
            self.init(
                "Port \(port) on \(host) is in use.",
                remedy: "Stop the program that uses it, or choose another port with --\(prefix)port (0 takes any free "
                    + "one).")
        case EACCES, EPERM:
            self.init(
                "You may not open port \(port) on \(host).", remedy: "Choose a port from 1024 up with --\(prefix)port.")
        case EADDRNOTAVAIL:
            self.init(
                "\(host) is not an address of this machine.",
                remedy: "Correct --\(prefix)host; 127.0.0.1 is this machine alone.")
        default:
            self.init(
                "Port \(port) on \(host) cannot be opened: \(String(cString: strerror(code))).",
                remedy: "Correct --\(prefix)host and --\(prefix)port.")
        }
    }

    var description: String { "profiled: \(sentence)\n\(remedy)" }

    /// Says it on standard error.
    func report() { Console.note("profiled: \(sentence)", remedy) }
}
