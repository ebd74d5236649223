internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import ProfileLogAPI

/// A response that is a file, read while it is sent.
enum FileResponse {
    /// The file, opened at once: its name may be gone by the time that it is read. Nil if it is gone already.
    static func response(_ file: APIAnswer.File, _ headers: [HTTPField]) -> Response? {
        guard let handle = FileHandle(forReadingAtPath: file.path), let length = try? handle.seekToEnd() else {
            return nil
        }
        let body = ResponseBody(contentLength: Int(length)) { writer in
            defer { try? handle.close() }
            try handle.seek(toOffset: 0)
            try await withTaskExecutorPreference(globalConcurrentExecutor) {
                var rest = Int(length)
                let most = ServiceAnswer.bytesAtOnce
                while rest > 0, let part = try handle.read(upToCount: min(rest, most)), !part.isEmpty {
                    try await writer.write(ByteBuffer(bytes: part))
                    rest -= part.count
                }
            }
            try await writer.finish(nil)
        }
        return Response(status: .ok, headers: ServiceAnswer.fields(type: file.mediaType, headers), body: body)
    }
}
