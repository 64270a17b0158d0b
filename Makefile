# Two commands do most: `make quickstart` measures this machine, `make test` tests a change (`make test-all`: everything).
# The work is done by tools/*.sh; each script says on its first lines what it does.

SHELL := bash
.DEFAULT_GOAL := help
.NOTPARALLEL:

.PHONY: help
help: ## Print these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-11s %s\n", $$1, $$2}' Makefile

.PHONY: quickstart
quickstart: ## Set up, build, run a quick sweep on the device that is here, write the report
	@tools/quickstart.sh

.PHONY: test
test: setup-dev ## Set up and run the tests that a change needs
	@tools/test.sh

.PHONY: test-all
test-all: setup-all ## Set up and run every test that this machine can run
	@tools/test.sh all

.PHONY: setup
setup: ## Install what building, measuring and reporting need and this machine lacks
	@tools/setup.sh run

.PHONY: setup-dev
setup-dev: ## The same for the tests and the linters
	@tools/setup.sh test

.PHONY: setup-all
setup-all: ## The same for make test-all: a browser, Slurm, clang with libFuzzer
	@tools/setup.sh all

.PHONY: build
build: ## Release build for the device that is here, or with ARCH=90 for that compute capability
	@tools/setup.sh build
	@ARCH='$(ARCH)' tools/build.sh

.PHONY: package
package: setup ## The release, in build/package: a wheel, and the same as a tar archive
	@tools/package.sh

.PHONY: gpu-test
gpu-test: setup ## The tests that need a GPU
	@tools/test.sh gpu

.PHONY: lint
lint: setup-dev ## clang-format, ruff, mypy, clang-tidy
	@tools/lint.sh quick
	@tools/lint.sh tidy

.PHONY: format
format: setup-dev ## Rewrite the sources as the formatters want them
	@tools/lint.sh fix

.PHONY: docs
docs: ## The manual as a site that opens offline: build/docs/site
	@tools/docs.sh

.PHONY: clean
clean: ## Remove what was built (the Python environment, the runs and the reports stay)
	rm -rf build
