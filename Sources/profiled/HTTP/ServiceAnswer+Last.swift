internal import HTTPTypes
internal import Hummingbird
internal import NIOCore

extension ServiceAnswer {
    /// The response to a request whose client asked before it sent the body, and is refused: the last one of its connection.
    ///
    /// Such a client need not send the body, and what it sends next would be taken for it.
    func lastResponse(_ more: [HTTPField], on connection: ConnectionContext) -> Response {
        let body = ByteBuffer(bytes: body)
        let ending = ResponseBody(contentLength: body.readableBytes) { writer in
            try await writer.write(body)
            try await writer.finish(nil)
            await connection.endOutput()
        }
        return Response(
            status: .init(code: status),
            headers: Self.fields(type: type, headers + more + [HTTPField(name: .connection, value: "close")]),
            body: ending)
    }
}
