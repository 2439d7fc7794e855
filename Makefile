# Two commands: `make demo` shows the main job on real documents, `make test` runs every test.
# Both install what is missing first, and say so.

.PHONY: demo test setup engine worker bench clean

demo: setup
	@scripts/demo

test: setup
	@scripts/test

setup:
	@scripts/setup

# The engine and its tests alone: no C++ compiler, no model.
engine:
	cargo test

# The worker of the llama realiser; llama.cpp takes several minutes.
worker: setup
	@scripts/worker

bench:
	cargo bench

clean:
	cargo clean
	rm -rf target-worker
