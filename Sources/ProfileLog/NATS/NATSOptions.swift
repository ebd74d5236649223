internal import CNATS

/// The options of one connection to one broker.
struct NATSOptions: ~Copyable {
    let handle: OpaquePointer

    private init(taking handle: OpaquePointer) { self.handle = handle }

    /// The options for `server`, which must answer within `timeout`.
    static func connecting(
        to server: String, _ settings: NATSSettings, timeout: Duration
    ) throws(NATSError) -> NATSOptions {
        var created: OpaquePointer?
        try NATSError.check(natsOptions_Create(&created))
        guard let created else { throw NATSError(NATS_NO_MEMORY) }
        let options = NATSOptions(taking: created)
        let handle = created
        try NATSError.check(natsOptions_SetURL(handle, server))
        try NATSError.check(natsOptions_SetName(handle, settings.client))
        try NATSError.check(natsOptions_SetTimeout(handle, timeout.milliseconds))
        // A library that reconnects would send again what it holds for the broker: a publish that we have given up. And
        // it would choose the broker. `NATSLink` connects again.
        try NATSError.check(natsOptions_SetAllowReconnect(handle, false))
        try NATSError.check(natsOptions_SetIgnoreDiscoveredServers(handle, true))
        // Requests leave at once instead of by a thread that gathers them for a millisecond.
        try NATSError.check(natsOptions_SetSendAsap(handle, true))
        // A broker that is stopped or cut off is given up after three unanswered pings.
        try NATSError.check(natsOptions_SetPingInterval(handle, 1000))
        try NATSError.check(natsOptions_SetMaxPingsOut(handle, 2))
        if settings.isEncrypted(server) {
            try options.encrypt(settings)
        } else {
            // Ends a connection whose broker takes no bytes. With TLS, libnats 3.4 would spin on its non-blocking
            // socket (comsock.c: SSL_ERROR_WANT_READ): `NATSConnection` sets TCP_USER_TIMEOUT there.
            try NATSError.check(natsOptions_SetWriteDeadline(handle, 1000))
        }
        try options.identify(settings)
        return options
    }

    deinit { natsOptions_Destroy(handle) }

    private func encrypt(_ settings: NATSSettings) throws(NATSError) {
        try NATSError.check(natsOptions_SetSecure(handle, true))
        if let file = settings.certificateAuthorityFile {
            try NATSError.check(natsOptions_LoadCATrustedCertificates(handle, file))
        }
        if let certificate = settings.certificateFile, let key = settings.keyFile {
            try NATSError.check(natsOptions_LoadCertificatesChain(handle, certificate, key))
        }
    }

    private func identify(_ settings: NATSSettings) throws(NATSError) {
        if let user = settings.user {
            try NATSError.check(natsOptions_SetUserInfo(handle, user, settings.password ?? ""))
        }
        if let file = settings.credentialsFile {
            try NATSError.check(natsOptions_SetUserCredentialsFromFiles(handle, file, nil))
        }
        if let file = settings.nkeySeedFile {
            guard let key = NKey.publicKey(ofSeedIn: file) else {
                throw NATSError(NATS_CONNECTION_AUTH_FAILED, "\(file) holds no seed of a user's NKey")
            }
            try NATSError.check(natsOptions_SetNKeyFromSeed(handle, key, file))
        }
    }
}
