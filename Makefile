# The commands that matter: make, make demo, make test. `make help` lists the rest.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := build

export CGO_ENABLED ?= 0
export GOTOOLCHAIN := local
# Every go command has the same flags, so that they share compiled packages.
export GOFLAGS ?= -trimpath
export CALLVET_TESTDATA ?= $(abspath ../shared/data)
# The part of the data that tests and verify targets read.
export CALLVET_PART ?= open
export CALLVET_VECTORS ?= $(abspath ../shared/vectors)
# Agents and mocks of other projects, which verify-agents installs and runs.
export CALLVET_REAL ?= $(abspath ../shared/real)
# Small inputs with their correct answers, for verify-faults.
export CALLVET_FAULTS ?= $(abspath ../shared/faults)
VERSION ?=
CACHE := .cache
LDFLAGS := -s -w $(if $(VERSION),-X main.version=$(VERSION))
# The oracles, the benchmarks and the mutation test are in a separate module, verify, which imports this one. They
# run in the root of the repository.
VERIFY = go build -C verify -o ../$(CACHE)/callvet-verify . && $(CACHE)/callvet-verify
BENCH = go build -C verify -o ../$(CACHE)/callvet-bench ./bench && $(CACHE)/callvet-bench
MUTATE = go build -C verify -o ../$(CACHE)/callvet-mutate ./mutate && nice $(CACHE)/callvet-mutate
# The files that gofmt checks.
GOFILES := $(shell git ls-files '*.go' 2>/dev/null)

help: ## list the targets
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 24

build: web callvet ## build the page, and the one binary with it, ./callvet

# Without "make web" before it the binary has no page, and shows a note in its place.
.PHONY: callvet
callvet:
	GOGC=800 go build -ldflags '$(LDFLAGS)' -o callvet ./cmd/callvet

# The page. Its types are generated from the API's description, which the program prints.
web/node_modules/.package-lock.json: web/package-lock.json
	cd web && npm ci --no-audit --no-fund
	@touch $@

.PHONY: web
web: web/node_modules/.package-lock.json ## build the page into web/dist/app, which the binary embeds (needs Node.js 20 or newer)
	go run ./cmd/callvet schema openapi > web/openapi.json
	cd web && npx openapi-typescript openapi.json -o src/api/schema.d.ts >/dev/null && npx tsc --noEmit && npx vite build --logLevel warn

.PHONY: verify-web browser
verify-web: export CALLVET_WHOLE = 1
verify-web: web callvet browser ## the page in a real browser: every test of web/tests, with all widths and 100,000 attempts
browser: ## the page in a real browser: every test of web/tests
	cd web && node --test --test-concurrency=2 --test-timeout=900000 tests/*.test.mjs

.PHONY: screenshots
screenshots: web callvet ## write pictures of every screen, light and dark, wide and narrow, into web/screenshots
	cd web && node screenshots.mjs

.PHONY: docs-images
docs-images: web callvet ## write the pictures in docs/images again
	cd web && node screenshots.mjs --docs

demo: callvet ## build and evaluate the shipped example suites offline
	./examples/demo.sh ./callvet

.PHONY: demo-regression
demo-regression: callvet ## show a build that fails for the right reason
	./examples/regression/demo.sh ./callvet

# The three parts run in parallel: tests of the page mostly wait for a browser, the race detector mostly compiles, and
# the rest waits for processes. Go has a lower priority than the browser, since tests of the page have time limits.
test: system format web callvet ## everything CI runs; installs what it needs
	@$(MAKE) --no-print-directory -j3 -Oline browser race plain

.PHONY: plain
plain: ## the linters and Go's tests without the race detector, one after the other
	@$(MAKE) --no-print-directory -j1 lint unit verifiers

.PHONY: system
system: ## install the system packages that tests need (Debian), if they are missing
	@missing=""; for c in chromium jq curl; do command -v $$c >/dev/null 2>&1 || missing="$$missing $$c"; done; \
	if ! command -v gcc >/dev/null 2>&1; then missing="$$missing gcc libc6-dev"; fi; \
	if [ -n "$$missing" ]; then \
	  if command -v apt-get >/dev/null 2>&1 && [ "$$(id -u)" = 0 ]; then \
	    echo "installing$$missing"; \
	    (apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $$missing >/dev/null) || echo "could not install$$missing: the tests that need them will skip"; \
	  else echo "missing:$$missing; the tests that need them will skip"; fi; fi
	@node -e 'process.exit(parseInt(process.versions.node) < 20 ? 1 : 0)' 2>/dev/null || { echo "Node.js 20 or newer is missing: the page cannot be built"; exit 1; }

.PHONY: vet
vet: format ## gofmt and go vet
	go vet ./...
	go -C verify vet ./...

.PHONY: format
format: ## gofmt: is every file formatted?
	@out=$$(gofmt -l $(GOFILES)); [ -z "$$out" ] || { echo "not gofmt-clean:"; echo "$$out"; exit 1; }

$(CACHE)/golangci-lint: tools/go.mod tools/go.sum
	@mkdir -p $(CACHE)
	cd tools && GOGC=800 go build -o ../$@ github.com/golangci/golangci-lint/v2/cmd/golangci-lint

# Warnings are only about lines that differ from commit BASE. "make prose BASE=" prints all.
BASE ?= HEAD
.PHONY: prose
prose: ## check words in comments, messages and documents by tools/prose; long sentences on changed lines
	@mkdir -p $(CACHE); tools/prose/prose.sh $(CACHE)/vale $(BASE)

.PHONY: lint
lint: prose $(CACHE)/golangci-lint web/node_modules/.package-lock.json ## the linters of .golangci.yml with go vet, the linters of the page, the words
	$(CACHE)/golangci-lint run ./...
	cd verify && ../$(CACHE)/golangci-lint run ./...
	cd web && npm run -s lint

# Tests write thousands of small databases, and a disk slows each down: the files are in memory
# where the system has enough of it and allows programs there.
define IN_MEMORY
if [ "$$(df --output=avail /dev/shm 2>/dev/null | tail -n 1)" -gt 6000000 ] 2>/dev/null && t=$$(mktemp -d /dev/shm/testing-XXXXXX) && chmod 755 "$$t"; then \
	  trap 'rm -rf "$$t"' EXIT; cp /bin/true "$$t/true"; if "$$t/true" 2>/dev/null; then export TMPDIR="$$t"; fi; fi
endef

# Each test runs once: with the race detector where its package shares memory, without it elsewhere. A package shares
# memory if its code or its tests start goroutines, lock, or use unsafe. house_test.go checks that none is missing.
RACE := ./value ./contract ./score ./panel/... ./retrieve/... \
	./internal/account ./internal/app/... ./internal/catalog ./internal/job ./internal/judge ./internal/library \
	./internal/mcp ./internal/measure ./internal/modelproxy ./internal/plan ./internal/provider/... ./internal/redact \
	./internal/report/... ./internal/run ./internal/server/... ./internal/store ./internal/suite/native ./internal/sys ./internal/world ./cmd/callvet
RACE_VERIFY := . ./bench ./mutate ./queue ./versions
# Tests of these packages that run without the race detector nevertheless: they start separate processes, measure time
# or memory, or draw random numbers and share nothing.
UNRACED := ^Test(Unraced|Scripts?$$|Docs|Swedish|EveryFlagIsRepeated$$|APIByCurl$$|Hostile$$|Authorization$$|BadInputs$$)
# The packages of RACE that have such tests; house_test.go checks the list.
UNRACED_IN := ./contract ./score ./panel ./panel/gates ./internal/catalog ./internal/judge ./internal/plan ./internal/provider ./internal/provider/agent ./internal/provider/offline ./internal/server ./cmd/callvet
UNRACED_IN_VERIFY := . ./queue
# Compiled without the race detector, since it makes them slow: SQLite translated to Go, password hashes, the
# description of the API (races in these are not ours to find), and the statistics, which share no memory.
UNWATCHED := -gcflags=modernc.org/...=-race=false -gcflags=golang.org/x/crypto/...=-race=false -gcflags=github.com/danielgtaylor/...=-race=false \
	-gcflags=gonum.org/...=-race=false -gcflags=github.com/callvet/callvet/stats/...=-race=false

# A skipped test prints SKIPPED and the reason; of passed tests only the package is printed. lint runs go vet. GOGC=800:
# a compiler that collects its garbage rarely needs a fifth less CPU time.
TEST = GOGC=800 nice -n 5 go test -exec 'env -u GOGC' -vet=off -count=1 -timeout 40m -v
SHOWN = 2>&1 | tee -a $(abspath $(CACHE))/$@.log | grep -a --line-buffered -E '^(ok|FAIL|panic)|^ *--- SKIP|: SKIPPED'
define FAILED
{ grep -avE '^ *(=== |--- PASS)' $(CACHE)/$@.log; echo; echo "What failed (all of it is in $(CACHE)/$@.log):"; grep -aE '^ *--- FAIL|^FAIL|^panic' $(CACHE)/$@.log; exit 1; }
endef

.PHONY: unit
unit: ## the tests without the race detector: packages that share no memory, scripts, commands of documents
	@mkdir -p $(CACHE); rm -f $(CACHE)/$@.log; $(IN_MEMORY); \
	  { $(TEST) $$(go list ./... | grep -vxF "$$(go list $(RACE))") $(SHOWN) && $(TEST) -run '$(UNRACED)' $(UNRACED_IN) $(SHOWN); } || $(FAILED)

.PHONY: verifiers
verifiers: ## the tests of the oracles without the race detector
	@mkdir -p $(CACHE); rm -f $(CACHE)/$@.log; $(IN_MEMORY); \
	  (cd verify; $(TEST) $$(go list ./... | grep -vxF "$$(go list $(RACE_VERIFY))") $(SHOWN) && $(TEST) -run '$(UNRACED)' $(UNRACED_IN_VERIFY) $(SHOWN)) || $(FAILED)

.PHONY: race
race: ## the tests of packages that share memory, under the race detector (needs a C compiler)
	@mkdir -p $(CACHE); rm -f $(CACHE)/$@.log; $(IN_MEMORY); export CGO_ENABLED=1; \
	  { $(TEST) -race $(UNWATCHED) -skip '$(UNRACED)' $(RACE) $(SHOWN) && (cd verify; $(TEST) -race $(UNWATCHED) -skip '$(UNRACED)' $(RACE_VERIFY) $(SHOWN)); } || $(FAILED)

.PHONY: generate
generate: ## generate internal/store/rows from the SQL in internal/store (needs sqlc v1.31.1 in PATH: go install github.com/sqlc-dev/sqlc/cmd/sqlc@v1.31.1)
	cd internal/store && sqlc generate

.PHONY: house
house: ## list wide packages, long files and long functions; never fails
	@go test -count=1 -v -run 'TestSmells$$' . | sed -n 's/^ *house_test.go:[0-9]*: //p'

.PHONY: docs
docs: callvet ## run the commands in the docs and compare their output with the docs
	go test -count=1 -run 'TestDocs' ./cmd/callvet

.PHONY: fuzz
fuzz: ## each fuzz target for 20 seconds
	@for p in $$(go list ./...); do for f in $$(go test -list '^Fuzz' $$p | grep ^Fuzz || true); do \
	  echo "$$p $$f"; go test -run '^$$' -fuzz "^$$f$$" -fuzztime 20s $$p; done; done

# PKG is one package, such as score/match; without it, all packages that decide a verdict. FILE is a file of PKG. SINCE
# is a commit: only newer lines are changed. TESTS are packages, ./a,./b, with tests to run after the tests of PKG.
PKG ?=
FILE ?=
SINCE ?=
TESTS ?=
.PHONY: mutate
mutate: ## change one operator at a time: the share of changes that a test notices, per package
	$(MUTATE) -survivors verify/mutate/survivors.tsv $(if $(FILE),-file $(FILE)) $(if $(SINCE),-since $(SINCE)) $(if $(TESTS),-tests $(TESTS)) $(if $(SAMPLE),-sample $(SAMPLE)) $(if $(SEED),-seed $(SEED)) $(if $(PKG),./$(PKG),./score/... ./stats/... ./panel/gates ./internal/run)

.PHONY: golden
golden: ## rewrite golden files
	go test ./internal/report ./internal/suite ./internal/suite/dialect -update
	go test ./cmd/callvet -run 'TestScript|TestDocsMetrics|TestDocsDocuments$$|TestDocsFlags|TestDocsLimits|TestDocsOutputs' -update
	go test -C verify ./rows -run TestDocsPlaces -update

.PHONY: cover
cover: ## coverage by function
	go test -coverprofile=$(CACHE)/cover.out ./... && go tool cover -func=$(CACHE)/cover.out | tail -n 40

.PHONY: bench
bench: callvet ## speed and its limits, measured in the same run
	$(BENCH) ./callvet

# N is the number of lines; BIG=1 also measures ten times as many (5 GB in $TMPDIR).
N ?= 1000000
BIG ?=
.PHONY: bench-select
bench-select: callvet ## selection in catalogs of 100 to 100,000 tools: recall, build time, memory
	$(BENCH) -only select ./callvet

.PHONY: bench-traces
bench-traces: callvet ## callvet score compared with DuckDB, which npm installs under .cache
	$(BENCH) -only traces -n $(N) $(if $(BIG),-big) ./callvet

# TIMES is how often each step is measured.
TIMES ?= 20
.PHONY: bench-page
bench-page: web callvet ## the page with 100,000 attempts in a real browser: first paint, interactions, the routes it reads
	cd web && node bench.mjs $(TIMES)

# Each verify target prints how many comparisons the index of its data requires. It fails on fewer,
# on a difference that is not explained by name, and without data. Its last line is one figure:
# N of M compared agree.
.PHONY: verify-matcher verify-bfcl verify-bfcl-multiturn verify-until verify-tau verify-agentdojo verify-judges
verify-matcher: ## the matcher conformance cases
	$(VERIFY) matcher

verify-bfcl: ## agreement with the official BFCL verdicts, case by case
	$(VERIFY) bfcl

verify-bfcl-multiturn: ## BFCL's executed conversations, and its runs compared case by case
	$(VERIFY) bfcl-multiturn

verify-until: ## gates decided anew after each case, on the recorded BFCL verdicts: cases run, wrong decisions, losses found
	$(VERIFY) until

verify-tau: ## the verdicts of tau-bench and tau2-bench, derived again from the messages
	$(VERIFY) tau

verify-agentdojo: ## AgentDojo's table, and our verdicts on attacks compared with its own
	$(VERIFY) agentdojo

verify-judges: ## published figures of judges, and success corrected for their errors
	$(VERIFY) judges

.PHONY: verify-judge-parsing verify-variance
verify-judge-parsing: ## recorded answers of judges are read as the published verdicts, or not at all
	$(VERIFY) judge-parsing

verify-variance: ## variance of recorded verdicts by task, attempt and judge, compared with other methods
	$(VERIFY) variance

.PHONY: verify-resume verify-stats verify-coverage
verify-resume: callvet ## kill -9 in the middle of 5,000 attempts, resume, count
	$(VERIFY) resume ./callvet

.PHONY: verify-api
verify-api: ## the API that two of the documents describe, by curl: every route, events in order, run-best, 80 questions
	go test -count=1 -v -run '^TestAPIByCurl$$' ./cmd/callvet | grep -v -e '^===' -e '^ok'

.PHONY: verify-lost
verify-lost: callvet ## runs and trace files with lost attempts: every report has the same counts of planned and lost, and no gate passes because of a loss
	$(VERIFY) lost ./callvet

.PHONY: verify-websocket
verify-websocket: callvet ## 1,000 WebSocket clients on a run of 2,000 attempts: each event once and in order, how soon, and whether the run is slower
	$(VERIFY) websocket ./callvet

.PHONY: verify-jobs
verify-jobs: callvet ## a server killed -9 at 50 moments of runs of 5,000 attempts, users at their limits, cancels: requests, stored attempts and events
	$(VERIFY) jobs ./callvet

.PHONY: verify-authz
verify-authz: ## every route of the server as each client that may not use it: how many requests were refused
	go test -count=1 -v -run '^TestAuthorization$$' ./internal/server

.PHONY: verify-hostile
verify-hostile: ## attacks of hostile users, models, MCP servers, scorers and networks on a server: which fail, and their CPU time and memory
	@mkdir -p $(CACHE); s=0; go test ./internal/server -run '^TestHostile$$' -count=1 -v -args -hostile.all > $(CACHE)/hostile.out 2>&1 || s=$$?; \
	  grep -e 'hostile_test.go' -e '^FAIL' $(CACHE)/hostile.out | sed 's/.*hostile_test.go:[0-9]*: //'; exit $$s

.PHONY: fuzz-api
fuzz-api: ## 21,000 bad inputs for every route of the API: no error 500, no panic, and an error changes nothing
	@mkdir -p $(CACHE); s=0; go test ./internal/server -run '^TestBadInputs$$' -count=1 -v -args -api.inputs=21000 > $(CACHE)/fuzz-api.out 2>&1 || s=$$?; \
	  grep -v -e '^=== ' -e level=INFO -e '^--- PASS' -e '^PASS' -e '^ok ' $(CACHE)/fuzz-api.out || true; exit $$s

.PHONY: verify-records
verify-records: ## 75,000 received and 14,000 stored records, each with members left out or replaced: only the attempt of a record fails
	CALLVET_RECORDS=1200 go test -count=1 -timeout 60m -run '^TestBad(Records|Lines)$$' ./internal/provider ./internal/message ./internal/provider/agent ./internal/trace/foreign ./internal/measure
	CALLVET_RECORDS=14000 go test -count=1 -timeout 60m -run '^TestBadStored' ./internal/app

.PHONY: verify-journeys
verify-journeys: callvet ## whole journeys of a user: every command that reads a run, in every format
	$(VERIFY) journeys ./callvet

.PHONY: verify-one-path
verify-one-path: callvet ## 200 runs and their exported traces: the same numbers, gates and comparisons to the last bit
	$(VERIFY) one-path ./callvet

.PHONY: verify-same
verify-same: ## every command of this checkout compared with REF (default HEAD), over examples and data: bytes, exit codes and files
	$(VERIFY) same $(REF)

.PHONY: verify-replay
verify-replay: callvet ## 100 replays of a reading and of a writing tool: the same bytes, and nothing executed
	$(VERIFY) replay ./callvet

verify-stats: ## the statistics against reference values of other software
	$(VERIFY) stats

.PHONY: verify-tune
verify-tune: ## 1,000 simulated tunings on each of five surfaces: the gain's interval, promotions without one, constraints, calls saved
	$(VERIFY) tune

verify-coverage: ## simulations: how often intervals contain the true value, and gates decide as plans promise
	$(VERIFY) coverage

.PHONY: verify-bm25 verify-retrieval verify-abstention verify-routes verify-bigtool
verify-bm25: ## BM25 compared with recorded figures and scores of another implementation
	$(VERIFY) bm25

verify-retrieval: ## the presets on public catalogs, compared with BM25 references
	$(VERIFY) retrieval

verify-abstention: ## fit the limits of abstention, and compare them on other questions
	$(VERIFY) abstention

verify-routes: ## routes by rules and learned routes: accuracy and abstention, with intervals
	$(VERIFY) routes

verify-bigtool: ## the second document's own suites under its preset and the default
	$(VERIFY) bigtool

.PHONY: verify-wire
verify-wire: ## recorded answers of real providers: calls, text, usage; requests with many settings checked by the official schemas
	$(VERIFY) wire

.PHONY: verify-peers
verify-peers: ## assertions about calls in the tests of other tools, scored here
	$(VERIFY) peers

.PHONY: drill
drill: callvet ## the shipped safety drills: a careful script passes all, a careless one is flagged at each
	go test ./cmd/callvet -run 'TestShippedDrills|TestDrillsWithoutAnswer' -count=1
	./callvet --db "$$(mktemp -d)/runs.db" drill -m script:examples/drills/good.yaml
.PHONY: verify-labelled-set
# SCRIPT is a file to write the scripted answers to.
SCRIPT ?=
verify-labelled-set: ## the shipped tasks in Portuguese and Spanish: counts, fixtures, right and wrong attempts
	$(VERIFY) labelled-set $(SCRIPT)

.PHONY: verify-evidence verify-faults
verify-evidence: callvet ## finish reasons, calls as text and histories in every form: no abstention without evidence, and none lost
	$(VERIFY) evidence ./callvet

# CALLVET_FAULTS is a folder with a check.py.
verify-faults: callvet ## small inputs with their correct answers, and our tests of them: N of N right
	go test -count=1 -run '^TestUnracedFaults' ./cmd/callvet
	python3 "$(CALLVET_FAULTS)/check.py" ./callvet

.PHONY: verify-agents
# CALLVET_CAPTURES=DIR reads further captures of the same kinds.
verify-agents: callvet ## real agents and SDKs from npm, over HTTP and by their telemetry: calls, results, errors, times, tokens
	$(VERIFY) agents
	$(VERIFY) mock ./callvet

.PHONY: verify-mcp
verify-mcp: callvet ## real MCP servers and clients from npm: imported tools, answers through the proxy, served tools listed and called
	$(VERIFY) mcp ./callvet

.PHONY: docs-tables
docs-tables: ## write the tables of docs/reference/reads.md again, from the data of verify-wire and verify-agents
	$(VERIFY) wire docs/reference/reads.md
	$(VERIFY) agents docs/reference/reads.md

.PHONY: verify-tiers
verify-tiers: callvet ## golden, labeled, regression and rubric cases: every assertion, trap and lock of the fourth document
	$(VERIFY) tiers ./callvet

.PHONY: verify-rows
verify-rows: callvet ## the rows of the four documents: results of commands and requests, compared with values computed by hand
	$(VERIFY) rows ./callvet

.PHONY: verify-redaction
verify-redaction: ## what redaction removes from every data set, and that it changes no figure
	$(VERIFY) redaction

.PHONY: verify-pii
verify-pii: ## precision and recall of personal data by entity, compared with the reference's own
	$(VERIFY) pii

.PHONY: clean
clean: ## remove what the targets built
	rm -rf callvet $(CACHE)
