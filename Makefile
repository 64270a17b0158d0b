# Two commands do everything: `make quickstart` measures this machine, `make test` tests the project on it.
# The work is done by tools/*.sh; each script says on its first lines what it does.

SHELL := bash
.DEFAULT_GOAL := help
.NOTPARALLEL:

.PHONY: help
help: ## Print these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-11s %s\n", $$1, $$2}' Makefile

.PHONY: quickstart
quickstart: setup ## Set up, build, run a quick sweep on the device that is here, write the report
	@tools/quickstart.sh

.PHONY: test
test: setup-dev ## Set up and run every test that this machine can run
	@tools/test.sh

.PHONY: setup
setup: ## Install what building and measuring need and this machine lacks
	@tools/setup.sh run

.PHONY: setup-dev
setup-dev: ## The same for the tests and the linters
	@tools/setup.sh test

.PHONY: build
build: setup ## Release build for the device that is here
	@tools/build.sh

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
