import Foundation
import Testing

@Suite("Following and stopping")
struct FollowingTests {
    private let cli: CLI

    init() throws { cli = try CLI(after: [["log", "event", "jane", "first"]]) }

    @Test("tail prints what another process stores", arguments: ["", "--format json"])
    func follow(format: String) throws {
        let outcome = try cli.shell(
            """
            "$0" tail \(format) > seen & tail=$!
            until grep -q first seen || ! kill -0 $tail; do sleep 0.05; done
            "$0" log event jane second > other && "$0" save event bob third > other
            until grep -q third seen || ! kill -0 $tail; do sleep 0.05; done
            kill $tail; wait $tail 2> other
            cat seen
            """)
        let names = outcome.lines.compactMap { $0.firstMatch(of: /first|second|third/)?.output }
        #expect(names == ["first", "second", "third"], "\(outcome.output)")
    }

    @Test("tail ends when its reader has gone, and waits for no event to notice")
    func readerGone() throws {
        // Were it to wait, the time limit would end it with another status.
        let outcome = try cli.shell(
            "timeout 300 \"$0\" tail -n 100 | head -n 1; status=(${PIPESTATUS[@]}); exit ${status[0]}")
        #expect(outcome.status == 0)
        #expect(outcome.lines.count == 1 && outcome.errors.isEmpty)
    }

    @Test("Work that SIGTERM stops says so")
    func terminated() throws {
        let outcome = try cli.shell(
            """
            "$0" generate --events 100000000 -o sample.jsonl & child=$!
            until ls | grep -q unfinished || ! kill -0 $child; do sleep 0.05; done
            kill -TERM $child; wait $child
            """)
        #expect(outcome.status == 143)
        #expect(outcome.errors.contains("Stopped by SIGTERM; no file was written."), "\(outcome.errors)")
    }

    @Test("A killed export leaves the file that was there")
    func killed() throws {
        let outcome = try cli.shell(
            """
            echo before > out.jsonl
            "$0" generate --events 100000000 -o out.jsonl & child=$!
            until ls | grep -q unfinished || ! kill -0 $child; do sleep 0.05; done
            kill -KILL $child; wait $child; cat out.jsonl
            """)
        #expect(outcome.output == "before\n")
    }
}
