internal import AsyncHTTPClient
internal import Foundation
internal import Logging
internal import NIOCore
internal import NIOHTTP1
internal import ProfileLog
internal import ProfileLogBackup
internal import ProfileLogRequests

/// The store of a new node: a copy of another node's, which is verified before it gets its place.
///
/// A stop at any moment leaves the folder without a store, and the next start begins again.
struct Joining {
    /// The URL of the other node.
    let url: String
    /// A key of that service with the permission `v1.cluster`; nil where it needs none.
    let key: String?
    /// The file of the authorities whose certificates are trusted; nil for those of the system.
    let authorities: String?
    /// The certificate of this node; nil if it speaks HTTP alone.
    let own: TLSCertificates?
    /// The folder of the store.
    let path: String
    let logger: Logger

    /// The number of times that a copy is taken whose stream was cut.
    private static let mostTries = 3
    /// The wait for the next bytes of the other node.
    private static let patience = TimeAmount.seconds(60)
    private static let mostErrorBytes = 64 << 10

    /// Fills the folder of the store as `--join` says, before anything in it is looked at. Does nothing without it, or if
    /// a store is there: `--join` may stay in the settings.
    static func run(_ settings: ServiceSettings, showing own: TLSCertificates?, logger: Logger) async throws {
        guard let url = settings.joinURL?.text, settings.brokers != nil else { return }
        if try StoreFolder(path: settings.store) == .store {
            logger.info("the store is there, so nothing is copied: --join is for a new node")
            return
        }
        let key = try settings.joinKeyFile.map { try ServiceSettings.secret("join-key-file", $0) }
        if let key, !key.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) {
            throw StartError(
                "The file of --join-key-file has no key.",
                remedy: "Put one key of the other service into it, as `profiled keys add` printed it.")
        }
        let joining = Joining(
            url: url, key: key, authorities: settings.nodeCA, own: own, path: settings.store, logger: logger)
        try await joining.run()
    }

    private func run() async throws {
        let begin = ContinuousClock.now
        do {
            let folder = try JoinFolder(path: path)
            do {
                try await copy(into: folder)
                let report = try ServiceManager.extendingStart { try finish(folder) }
                logger.notice(
                    "joined: the store is a verified copy of another node's",
                    metadata: [
                        "url": "\(url)", "position": .stringConvertible(report.end.rawValue),
                        "bytes": .stringConvertible(folder.unpacker.bytes),
                        "seconds": .stringConvertible((ContinuousClock.now - begin) / .seconds(1)),
                    ])
            } catch {
                folder.abandon()
                throw error
            }
        } catch let error as any LogError {
            throw StartError(error.description, remedy: Self.remedy(of: error))
        }
    }

    private static func remedy(of error: any LogError) -> String {
        switch error as any Error {
        case RestoreError.occupied, RestoreError.foreign: "Name an empty folder with --store, or a new one."
        case let error as StorageError: error.commandRemedy
        case BackupError.full: "Free some space there and start the node again; nothing of the copy was kept."
        case BackupError.damaged: "Start the node again; if it fails again, look at the other node's disk and memory."
        default: error.remedy
        }
    }

    // MARK: - The copy

    private func copy(into folder: JoinFolder) async throws {
        var configuration = HTTPClient.Configuration()
        configuration.timeout = .init(connect: .seconds(10), read: Self.patience)
        configuration.redirectConfiguration = .disallow
        // Nothing listens there: that is said at once.
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.httpVersion = .http1Only
        configuration.tlsConfiguration = try NodeClient.tls(authorities: authorities, showing: own)
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        do {
            try await copy(into: folder, by: client)
        } catch {
            try? await client.shutdown()
            throw error
        }
        try? await client.shutdown()
    }

    private func copy(into folder: JoinFolder, by client: HTTPClient) async throws {
        for number in 1...Self.mostTries {
            do throws(CutError) {
                return try await copyOnce(into: folder, by: client)
            } catch {
                if let failure = error.failure { throw failure }
                guard number < Self.mostTries else {
                    throw StartError(
                        "The copy of \(url) was cut off after \(folder.unpacker.bytes) bytes, \(number) times.",
                        remedy: "See the log of that node, and start this one again: it begins from the start.")
                }
                logger.warning(
                    "the copy was cut off, and begins again",
                    metadata: ["url": "\(url)", "bytes": .stringConvertible(folder.unpacker.bytes)])
                try folder.restart()
            }
        }
    }

    /// The stream ended early, or for the reason `failure`, which another try would not change.
    private struct CutError: Error {
        var failure: (any Error)?
    }

    private func copyOnce(into folder: JoinFolder, by client: HTTPClient) async throws(CutError) {
        let response: HTTPClientResponse
        do {
            response = try await answer(of: client)
        } catch {
            throw CutError(failure: error)
        }
        var told = ContinuousClock.now
        do {
            for try await part in response.body {
                do throws(BackupError) {
                    try folder.unpacker.add(Array(part.readableBytesView))
                } catch {
                    throw CutError(failure: error)
                }
                if ContinuousClock.now - told >= Self.tellEvery {
                    told = .now
                    tell("Copying the store of \(url): \(folder.unpacker.bytes >> 20) MiB came.")
                    ServiceManager.goesOn()
                }
            }
        } catch let cut as CutError {
            throw cut
        } catch {
            throw CutError()
        }
        if !folder.unpacker.isComplete { throw CutError() }
    }

    /// The answer with the copy, of which no byte of the body was read.
    private func answer(of client: HTTPClient) async throws -> HTTPClientResponse {
        var request = HTTPClientRequest(url: base + "/v1/cluster/copy")
        if let key { request.headers.add(name: "Authorization", value: "Bearer \(key)") }
        ServiceManager.status("Copying the store of \(url).")
        logger.notice("a new node: the store of another one is copied", metadata: ["url": "\(url)"])
        let response: HTTPClientResponse
        do {
            response = try await client.execute(request, deadline: .distantFuture)
        } catch {
            logger.debug("no answer", metadata: ["url": "\(url)", "error": "\(error)"])
            throw StartError(
                "The node to join, \(url), does not answer.",
                remedy: "Check --join, that the service runs there, and that this machine may reach its port; with "
                    + "https also --node-ca and, if clients need a certificate there, --tls-client-ca here.")
        }
        if response.status.code == 200 { return response }
        throw refusal(
            response.status.code,
            (try? await response.body.collect(upTo: Self.mostErrorBytes)).map { Array($0.readableBytesView) })
    }

    private var base: String { url.hasSuffix("/") ? String(url.dropLast()) : url }

    private func refusal(_ status: UInt, _ body: [UInt8]?) -> StartError {
        let bytes: [UInt8] = body ?? []
        let problem = (try? JSON.parse(bytes, maxDepth: 20)) ?? .null
        func text(_ name: Name) -> String? { if case .string(let text)? = problem[name] { text } else { nil } }
        switch (status, text("code")) {
        case (401, _):
            return StartError(
                "The node to join, \(url), \(key == nil ? "needs a key" : "does not know the key").",
                remedy: "Name a file with one of its keys in --join-key-file; `profiled keys add` there makes one with "
                    + "the permission v1.cluster.")
        case (403, _):
            return StartError(
                "The key of --join-key-file may not copy the store of \(url).",
                remedy: "Make a key with the permission v1.cluster there, by `profiled keys add`.")
        case (404, "no_cluster"):
            return StartError(
                "The service at \(url) is no node of a cluster.",
                remedy: "Start it with --replicate first, or name a node with --join.")
        case (404, _):
            return StartError(
                "What answers at \(url) has no store to copy: it is another program, or an older profiled.",
                remedy: "Check --join, and update the service there.")
        default:
            return StartError(
                "The node to join, \(url), refused the copy with status \(status)\(text("error").map { ": \($0)" } ?? ".")",
                remedy: text("remedy") ?? "See the log of that node.")
        }
    }

    // MARK: - The store

    private func finish(_ folder: JoinFolder) throws -> RestoreReport {
        var told = ContinuousClock.now
        return try folder.finish(projections: RequestStore.projections) { progress in
            if ContinuousClock.now - told >= Self.tellEvery {
                told = .now
                let what = progress.stage == "caches" ? "Writing the caches" : "Making the store of the copy"
                tell("\(what): position \(progress.done) of \(progress.total).")
            }
            return true
        }
    }

    private static let tellEvery = Duration.seconds(5)

    private func tell(_ text: String) {
        ServiceManager.status(text)
        logger.notice("\(text.dropLast())")
    }
}
