# make demo   builds in release and plays the whole story on a store of its own
# make test   builds and runs all tests
# make compatibility   runs Braze clients from PyPI against the built profiled (PROFILED=FILE for another than .build/debug/profiled)
.PHONY: demo test compatibility run bench bench-http bench-large wrk install build fuzz lint mutations setup clean

PREFIX ?= /usr/local

setup:
	@scripts/setup.sh

build: setup
	swift build -c release

demo: build
	@scripts/demo.sh

test: setup
	@scripts/test.sh

compatibility:
	@Tests/Compatibility/run

run: build
	.build/release/profiled

bench: wrk build
	@scripts/bench.sh
	@scripts/bench-http.sh

bench-http: wrk build
	@scripts/bench-http.sh

wrk:
	@command -v wrk >/dev/null || { echo "wrk is missing. Install it with: apt-get install wrk" >&2; exit 1; }

bench-large: build
	@scripts/bench-large.sh

mutations: setup
	@scripts/mutations.sh

# 10,000 bodies in `make test`; here 250,000.
fuzz: setup
	swift build --build-tests
	PROFILELOG_FUZZ_TIMES=25 swift test --skip-build --filter BrazeFuzzTests

lint:
	swift format lint --strict -r Sources Tests Benchmarks/Sources Package.swift Benchmarks/Package.swift

install: build
	install -d $(DESTDIR)$(PREFIX)/bin
	install -m 755 .build/release/profilecli .build/release/profiled $(DESTDIR)$(PREFIX)/bin

clean:
	rm -rf .build demo-store Benchmarks/.build Benchmarks/C/.build
