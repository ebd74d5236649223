import Testing

@testable import ProfileLogBrazeAPI

/// Reads zip files whose entries are stored, by the directory at the end, and compares every number that occurs twice.
enum ZipReader {
    static func parts(_ file: [UInt8]) throws -> [(name: String, text: String)] {
        let end = file.count - 22
        try #require(end >= 0 && file.little(end, 4) == 0x0605_4B50)
        let count = file.little(end + 8, 2)
        #expect(file.little(end + 10, 2) == count)
        var row = file.little(end + 16, 4)
        #expect(row + file.little(end + 12, 4) == end)
        var parts: [(name: String, text: String)] = []
        for _ in 0..<count {
            try #require(file.little(row, 4) == 0x0201_4B50)
            let header = file.little(row + 42, 4)
            try #require(file.little(header, 4) == 0x0403_4B50)
            // Version to extra length are in both.
            #expect(file[(row + 6)..<(row + 32)] == file[(header + 4)..<(header + 30)])
            #expect(file.little(header + 8, 2) == 0)
            let (size, nameLength) = (file.little(header + 18, 4), file.little(header + 26, 2))
            #expect(file.little(header + 22, 4) == size)
            let name = file[(header + 30)..<(header + 30 + nameLength)]
            let content = file[(header + 30 + nameLength)..<(header + 30 + nameLength + size)]
            #expect(content.checksum == file.little(header + 14, 4))
            parts.append((String(decoding: name, as: UTF8.self), String(decoding: content, as: UTF8.self)))
            row += 46 + nameLength
        }
        #expect(row == end)
        return parts
    }
}

/// Reads gzip files whose blocks are stored.
enum GzipReader {
    static func text(_ file: [UInt8]) throws -> String {
        try #require(Array(file.prefix(4)) == [0x1F, 0x8B, 8, 0])
        var content: [UInt8] = []
        var place = 10
        while true {
            let (first, length) = (file[place], file.little(place + 1, 2))
            try #require(first <= 1 && length ^ 0xFFFF == file.little(place + 3, 2))
            content += file[(place + 5)..<(place + 5 + length)]
            place += 5 + length
            if first == 1 { break }
        }
        #expect(content[...].checksum == file.little(place, 4))
        #expect(content.count == file.little(place + 4, 4))
        #expect(place + 8 == file.count)
        return String(decoding: content, as: UTF8.self)
    }
}

extension [UInt8] {
    fileprivate func little(_ place: Int, _ bytes: Int) -> Int {
        self[place..<(place + bytes)].reversed().reduce(0) { $0 << 8 | Int($1) }
    }
}

extension ArraySlice<UInt8> {
    /// Bit by bit, without a table.
    fileprivate var checksum: Int {
        var register = UInt32.max
        for byte in self {
            register ^= UInt32(byte)
            for _ in 0..<8 {
                let isOdd = register & 1 == 1
                register >>= 1
                if isOdd { register ^= 0xEDB8_8320 }
            }
        }
        return Int(~register)
    }
}
