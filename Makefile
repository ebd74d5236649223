# make demo            builds in release and plays the whole story on a store of its own
# make test            builds and runs all tests; random tests in their short form
# make test-long       runs the random tests alone, in their full form, and compares 10,000 answers with /openapi.json
# make docs            builds the documentation of the library into .build/docs; a warning is an error
# make digest          folds the same events in release as the tests do in debug: the bytes must be equal
# make test-console    opens the console in Chromium: accessibility, geometry, hostile values, failures, tasks by keyboard
#                      (one place alone: CONSOLE_ONLY=device; files without a build: CONSOLE_FILES=FOLDER)
# make test-cluster    three brokers and three nodes, some of which die, stop, are cut off or lose their disk, 110 rounds;
#                      needs root, and the network once (SHORT=1: some minutes; SEED=17: those faults again)
# make bench-operations measures backups, restores and TLS (EVENTS=10000000 for the size that the bars are meant for)
# make bench-console   measures the console in Chromium against its budgets (also: scripts/bench-console.sh --long)
# make bench-cluster   measures three nodes against one, and how long writes stop when a node or a broker dies
# make deb             makes the Debian package profilelog_VERSION_ARCHITECTURE.deb: docs/install.md
# make test-package    needs root and the network: installs, upgrades and removes the package in a Debian of its own, with
#                      a booted systemd (PACKAGE=FILE tries that one)
# make compatibility   runs Braze clients from PyPI against .build/debug/profiled (or another one: PROFILED=FILE)
#
# Debian packages that a target needs and the machine lacks are installed by apt (scripts/setup.sh).
.PHONY: demo test test-long test-console test-cluster test-package docs digest compatibility run bench bench-http \
	bench-growth bench-large bench-search bench-operations bench-console bench-cluster install build deb lint mutations \
	clean

PREFIX ?= /usr/local

build:
	@scripts/setup.sh build
	PROFILELOG_COMMIT=$$(scripts/commit.sh) swift build -c release

demo: build
	@scripts/demo.sh

test:
	@scripts/setup.sh test
	@scripts/test.sh

test-long:
	@scripts/setup.sh test
	@scripts/test.sh --long

test-console:
	@scripts/setup.sh console
	swift build
	@Tests/Console/run

test-cluster:
	@scripts/setup.sh cluster
	swift build
	@Tests/Cluster/run $(if $(SHORT),--short) $(if $(SEED),--seed $(SEED))

deb:
	@scripts/deb.sh

test-package:
	@scripts/test-package.sh $(PACKAGE)

docs:
	@scripts/docs.sh

digest: build
	@folder=$$(mktemp -d); .build/release/profilelog-crashchild digest "$$folder/store"; status=$$?; \
	rm -rf "$$folder"; exit $$status

compatibility:
	@Tests/Compatibility/run

run: build
	.build/release/profiled

bench: build
	@scripts/bench.sh
	@scripts/bench-http.sh
	@scripts/bench-growth.sh

bench-http: build
	@scripts/bench-http.sh

bench-growth: build
	@scripts/bench-growth.sh

bench-large: build
	@scripts/bench-large.sh

bench-search: build
	@scripts/bench-search.sh

# EVENTS=10000000 measures what the bars are meant for.
bench-operations: build
	@scripts/bench-operations.sh $(EVENTS)

bench-console: build
	@scripts/setup.sh console
	@scripts/bench-console.sh

bench-cluster: build
	@scripts/setup.sh cluster
	@scripts/bench-cluster.sh

mutations:
	@scripts/setup.sh test
	@scripts/mutations.sh

lint:
	swift format lint --strict -r Sources Tests Examples Benchmarks/Sources Package.swift

install: build
	install -d $(DESTDIR)$(PREFIX)/bin
	install -m 755 .build/release/profilecli .build/release/profiled $(DESTDIR)$(PREFIX)/bin

clean:
	rm -rf .build demo-store Benchmarks/C/.build
