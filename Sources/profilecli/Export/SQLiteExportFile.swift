internal import Foundation
internal import ProfileLog
internal import ProfileLogNativeAPI

/// One table of SQLite, `events` or `profiles`. While it is not complete, a second table, `export`, has one row that
/// says how far it is and as of which position: it is written in the same transaction as the rows. From before that
/// table is dropped until the file has its name, `FILE.partial.state` says it.
final class SQLiteExportFile: ExportFile {
    private let target: ExportTarget
    private let table: ExportTable
    private var database: SQLite

    init(_ target: ExportTarget, _ table: ExportTable) throws {
        (self.target, self.table) = (target, table)
        database = try SQLite(path: target.partial)
    }

    /// The first bytes of each file of SQLite.
    private static let mark = Array("SQLite format 3\0".utf8)

    func progress(of request: String) throws -> ExportProgress? {
        if target.length == 0 { return nil }
        guard target.begins(with: Self.mark) else { throw OtherExport() }
        let tables = "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name <> 'export'"
        switch try database.prepare(tables).run() {
        case nil: return nil
        case "export":
            let text = try database.prepare("SELECT progress FROM export").run()
            let progress = try text.flatMap { ExportProgress(try JSONObject(Array($0.utf8))) }
            return try same(progress, request)
        // All rows are there.
        default: return try same(target.noted.flatMap(ExportProgress.init), request)
        }
    }

    private func same(_ progress: ExportProgress?, _ request: String) throws -> ExportProgress {
        guard let progress, progress.request == request else { throw OtherExport() }
        return progress
    }

    func begin(_ progress: ExportProgress) throws {
        // Dropped tables would leave their values on free pages.
        try target.empty()
        database = try SQLite(path: target.partial)
        let columns = table.columns.enumerated().map { index, column in
            "\"\(column.name)\" \(column.type.declared)\(index == 0 ? " PRIMARY KEY" : "")"
        }
        try inTransaction {
            try database.execute(
                """
                CREATE TABLE export (progress TEXT NOT NULL);
                INSERT INTO export VALUES ('');
                CREATE TABLE \(table.name) (\(columns.joined(separator: ", ")));
                """)
            try note(progress)
        }
    }

    func append(_ rows: [AttributeValue], _ progress: ExportProgress) throws {
        let places = table.columns.map { _ in "?" }.joined(separator: ",")
        let insert = try database.prepare("INSERT INTO \(table.name) VALUES (\(places))")
        try inTransaction {
            for row in rows { try insert.run(table.cells(of: row)) }
            try note(progress)
        }
    }

    func finish(_ progress: ExportProgress) throws {
        try target.note(progress.json())
        try inTransaction {
            if table.kind == .events {
                try database.execute("CREATE INDEX IF NOT EXISTS events_by_profile ON events (profile_number)")
            }
            try database.execute("DROP TABLE IF EXISTS export")
        }
    }

    private func note(_ progress: ExportProgress) throws {
        try database.prepare("UPDATE export SET progress = ?").run([.string(progress.json())])
    }

    private func inTransaction(_ body: () throws -> Void) throws {
        try database.execute("BEGIN IMMEDIATE")
        do {
            try body()
            try database.execute("COMMIT")
        } catch {
            try? database.execute("ROLLBACK")
            throw error
        }
    }
}

extension ExportTable.ColumnType {
    /// As SQLite declares it.
    fileprivate var declared: String {
        switch self {
        case .integer, .flag: "INTEGER"
        case .real: "REAL"
        case .any: ""
        case .text, .json, .others: "TEXT"
        }
    }
}
