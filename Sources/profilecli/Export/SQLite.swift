internal import Foundation
internal import ProfileLog

/// A file of SQLite, by the library of the system. It is loaded when a file is written, so neither a build nor any
/// other command needs it.
final class SQLite {
    private let functions: Functions
    private var connection: OpaquePointer?

    /// Opens the file at `path`, which may be empty.
    init(path: String) throws {
        guard let functions = Functions() else {
            throw CommandError(
                "SQLite is not installed: there is no libsqlite3.so.0.",
                remedy: "Install it (Debian and Ubuntu: apt-get install libsqlite3-0), or use --format csv.")
        }
        self.functions = functions
        try check(functions.open(path, &connection, Self.readWrite, nil))
    }

    deinit { _ = functions.close(connection) }

    /// Runs statements that give no rows and take no values.
    func execute(_ text: String) throws { try check(functions.execute(connection, text, 0, 0, 0)) }

    func prepare(_ text: String) throws -> Statement {
        var handle: OpaquePointer?
        try check(functions.prepare(connection, text, -1, &handle, 0))
        return Statement(self, handle)
    }

    /// A statement that is run with different values.
    final class Statement {
        private let database: SQLite
        private let handle: OpaquePointer?

        fileprivate init(_ database: SQLite, _ handle: OpaquePointer?) {
            (self.database, self.handle) = (database, handle)
        }

        deinit { _ = database.functions.finalize(handle) }

        /// Runs it once, and gives the text in the first column of the first row, if there is one.
        @discardableResult
        func run(_ values: [AttributeValue] = []) throws -> String? {
            let functions = database.functions
            defer {
                _ = functions.reset(handle)
                _ = functions.clear(handle)
            }
            for (index, value) in values.enumerated() { try database.check(bind(value, Int32(index + 1))) }
            let code = functions.step(handle)
            if code == SQLite.row { return functions.text(handle, 0).map { String(cString: $0) } }
            if code != SQLite.done { try database.check(code) }
            return nil
        }

        private func bind(_ value: AttributeValue, _ index: Int32) -> Int32 {
            let functions = database.functions
            switch value {
            case .bool(let flag): return functions.bindInteger(handle, index, flag ? 1 : 0)
            case .int(let number): return functions.bindInteger(handle, index, number)
            case .double(let number): return functions.bindReal(handle, index, number)
            case .string(let text):
                return text.utf8CString.withUnsafeBufferPointer { bytes in
                    guard let start = bytes.baseAddress else { return SQLite.ok }
                    // Without the zero at the end.
                    return functions.bindText(handle, index, start, Int32(bytes.count - 1), SQLite.copied)
                }
            case .null, .date, .array, .object: return SQLite.ok
            }
        }
    }

    // MARK: - Codes of sqlite3.h

    private static let ok: Int32 = 0
    private static let full: Int32 = 13
    private static let row: Int32 = 100
    private static let done: Int32 = 101
    private static let readWrite: Int32 = 0x2 | 0x4
    /// SQLITE_TRANSIENT: the text is copied at once.
    private static let copied = -1

    fileprivate func check(_ code: Int32) throws {
        if code == Self.ok { return }
        if code & 0xFF == Self.full { throw Output.CannotWrite(code: ENOSPC) }
        let reason = functions.message(connection).map { String(cString: $0) } ?? "code \(code)"
        throw CommandError(
            "SQLite refused to write the file: \(reason).",
            remedy: "Run the same command again; add --force to begin the file again.", status: .unwritable)
    }

    // MARK: - The library

    /// The functions that are used, by their names in sqlite3.h.
    private struct Functions {
        typealias Text = UnsafePointer<CChar>
        typealias Handle = OpaquePointer
        typealias OfHandle = @convention(c) (Handle?) -> Int32
        typealias Open = @convention(c) (Text, UnsafeMutablePointer<Handle?>, Int32, Text?) -> Int32
        typealias Execute = @convention(c) (Handle?, Text, Int, Int, Int) -> Int32
        typealias Prepare = @convention(c) (Handle?, Text, Int32, UnsafeMutablePointer<Handle?>, Int) -> Int32
        typealias BindText = @convention(c) (Handle?, Int32, Text, Int32, Int) -> Int32
        typealias BindInteger = @convention(c) (Handle?, Int32, Int64) -> Int32
        typealias BindReal = @convention(c) (Handle?, Int32, Double) -> Int32
        typealias ColumnText = @convention(c) (Handle?, Int32) -> UnsafePointer<UInt8>?
        typealias Message = @convention(c) (Handle?) -> Text?

        let close, step, reset, clear, finalize: OfHandle
        let open: Open
        let execute: Execute
        let prepare: Prepare
        let bindText: BindText
        let bindInteger: BindInteger
        let bindReal: BindReal
        let text: ColumnText
        let message: Message

        /// Returns nil if the system has no SQLite.
        init?() {
            let names = ["libsqlite3.so.0", "libsqlite3.so", "libsqlite3.dylib"]
            guard let library = names.lazy.compactMap({ dlopen($0, RTLD_NOW) }).first else { return nil }
            func load<Function>(_ name: String) -> Function? {
                dlsym(library, "sqlite3_\(name)").map { unsafeBitCast($0, to: Function.self) }
            }
            guard let close: OfHandle = load("close_v2"), let step: OfHandle = load("step"),
                let reset: OfHandle = load("reset"), let clear: OfHandle = load("clear_bindings"),
                let finalize: OfHandle = load("finalize"), let open: Open = load("open_v2"),
                let execute: Execute = load("exec"), let prepare: Prepare = load("prepare_v2"),
                let bindText: BindText = load("bind_text"), let bindInteger: BindInteger = load("bind_int64"),
                let bindReal: BindReal = load("bind_double"), let text: ColumnText = load("column_text"),
                let message: Message = load("errmsg")
            else { return nil }
            (self.close, self.step, self.reset, self.clear, self.finalize) = (close, step, reset, clear, finalize)
            (self.open, self.execute, self.prepare, self.text, self.message) = (open, execute, prepare, text, message)
            (self.bindText, self.bindInteger, self.bindReal) = (bindText, bindInteger, bindReal)
        }
    }
}
