# The short names of what is done often. `make` lists them.
LINT := go tool -modfile=tools/go.mod golangci-lint
E2E_LINT := go tool -modfile=../tools/go.mod golangci-lint # of a module of its own, whose tests need much
RELEASE := go tool -modfile=tools/release/go.mod goreleaser # a module of its own: it needs hundreds of others

.PHONY: help
help: ## list what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: dev
dev: ## run the gateway with a sandbox
	go run ./cmd/recado dev

.PHONY: build
build: ## build the program into bin/
	go build -trimpath -o bin/recado ./cmd/recado

.PHONY: test
test: ## run the tests that need nothing but Go
	go test ./...

.PHONY: e2e
e2e: ## run the tests of the whole program as a process: killed, updated, watched, without power
	go -C e2e test $$(go -C e2e list ./... | grep -vE '/(browsertest|imagetest)(/|$$)')

.PHONY: browser
browser: ## run the tests of the pages in a browser; needs Chromium
	go -C e2e test -p 1 ./browsertest/...

.PHONY: image-test
image-test: ## run the tests of the image and of the files of deployments; needs buildah
	go -C e2e test ./imagetest

.PHONY: race
race: ## run the tests of both modules with the race detector, but those of browser and image
	GORACE="suppressions=$(CURDIR)/.ci/known-races" go test $$(grep -v '^#' .ci/race) ./...
	GORACE="suppressions=$(CURDIR)/.ci/known-races" go -C e2e test $$(grep -v '^#' .ci/race) $$(go -C e2e list ./... | grep -vE '/(browsertest|imagetest)(/|$$)')

.PHONY: lint
lint: ## check the code's style
	$(LINT) run ./...
	cd e2e && $(E2E_LINT) run ./...

.PHONY: format
format: ## write the code in the house's format
	$(LINT) fmt ./...
	cd e2e && $(E2E_LINT) fmt ./...

.PHONY: generate
generate: ## write the checked-in documents anew: openapi.yaml, config.md, events.md, the metrics of monitoring.md, and the Go client; and the generated parts of those for Python and PHP
	go test ./internal/api ./internal/cli -run 'Document' -update
	go run ./internal/clientgen docs/openapi.yaml go client
	go run ./internal/clientgen docs/openapi.yaml python sdks/python/src/recado
	go run ./internal/clientgen docs/openapi.yaml php sdks/php/generated
	go test ./internal/docstest -run EventsDocument -update
	go -C e2e test ./watchtest -run Metrics -update

.PHONY: site
site: ## write the documents and the reference as a website into site/, to be put anywhere
	rm -rf site
	go run ./internal/sitegen docs/openapi.yaml site

.PHONY: fuzz
fuzz: ## fuzz every parser of foreign input, half a minute each
	tools/fuzz.sh 30s

.PHONY: mutants
mutants: ## plant faults in the code one by one, and see that the tests notice
	go run ./internal/mutants

.PHONY: torture
torture: ## kill the program a thousand times under load, and whatever else takes minutes
	go -C e2e test -count=1 -tags torture ./torture ./nodetest -v -timeout 120m
	go test -count=1 -tags torture ./internal/api ./internal/server ./internal/store -v -timeout 60m \
		-run '^(TestStreamHasNoHoles|TestLinksWithPasskeys|TestCutsLeaveNothingBehind|TestOutdatedInstancesComeBack|TestTakeoversWithoutAWord|TestMigrationBesideALongReader)$$'

.PHONY: screenshots
screenshots: ## take pictures of all pages into bin/screenshots, and those of the README into docs/pictures; needs Chromium
	go -C e2e test -count=1 -tags screenshots ./browsertest -run '^TestScreenshots$$' -screenshots $(CURDIR)/bin/screenshots
	mkdir -p docs/pictures
	go -C e2e test -count=1 -tags screenshots ./browsertest -run '^TestMovingPicture$$' -moving $(CURDIR)/docs/pictures/answer.webp
	for page in instances chats phones; do cp bin/screenshots/$$page-1200-light.png docs/pictures/$$page.png; done

.PHONY: n8n
n8n: ## check the language of the Evolution API with the n8n node, and the recipes for n8n and Node-RED; needs Node 20
	tools/n8n/run.sh
	tools/node-red/run.sh

.PHONY: sdks
sdks: ## build, pack and check the clients of other languages, and run the examples; needs Node 20, and on Debian what sdks/*/needs.txt list
	for check in sdks/*/check.sh examples/check.sh; do $$check || exit; done

.PHONY: second-client
second-client: ## check the sandbox with another implementation of the protocol; needs Node 20
	tools/secondclient/run.sh

.PHONY: bump
bump: ## raise the client library to its newest commit, and run what that can break; needs Node 20
	tools/bump.sh

.PHONY: bench
bench: ## measure what docs/performance.md says
	go -C e2e test ./bench -run '^$$' -bench . -benchtime 1x -timeout 30m

.PHONY: image
image: ## build the image recado, with docker, podman or buildah
	@builder=$$(command -v docker || command -v podman || command -v buildah) || { echo "none of docker, podman and buildah is installed"; exit 1; }; \
	set -x; "$$builder" build -t recado .

.PHONY: profile
profile: ## profile sends and receives anew for the compiler, which releases are built with
	go -C e2e test ./bench -run '^$$' -bench Profile -benchtime 1x -profile $(CURDIR)/cmd/recado/release.pgo

.PHONY: release
release: ## build programs and packages for all systems into dist/, with checksums; takes minutes
	$(RELEASE) check
	$(RELEASE) release --snapshot --clean
	go -C tools/release run ./provenance $(CURDIR)/dist $$(git rev-parse HEAD)
	go -C tools/release run ./formula $(CURDIR)/dist
	tools/release/check.sh

.PHONY: ci
ci: ## run what a change has to pass: style, tests, and the steps that .ci/table has for what changed
	.ci/run

.PHONY: ci-all
ci-all: ## run every step of CI, as before a release; if all pass, .ci/whole names this commit
	.ci/run all
