-- For wrk: posts the lines of the file in $BODIES in turn, and prints what it measured as one line of JSON.
local requests, turn = {}, 0

function init()
    local key = os.getenv("KEY") or "key"
    local headers = { ["Content-Type"] = "application/json", ["Authorization"] = "Bearer " .. key }
    for line in io.lines(os.getenv("BODIES")) do
        requests[#requests + 1] = wrk.format("POST", os.getenv("REQUEST_PATH"), headers, line)
    end
end

function request()
    turn = turn % #requests + 1
    return requests[turn]
end

function done(summary, latency)
    local errors = summary.errors
    print(string.format(
        '{"requests":%d,"seconds":%.6f,"p50_ms":%.3f,"p99_ms":%.3f,"max_ms":%.3f,"failed":%d}',
        summary.requests, summary.duration / 1e6, latency:percentile(50) / 1e3, latency:percentile(99) / 1e3,
        latency.max / 1e3, errors.connect + errors.read + errors.write + errors.status + errors.timeout))
end
