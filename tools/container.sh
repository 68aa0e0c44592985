#!/usr/bin/env bash
# The steps of the container, each of which also runs on a bare Debian.
#
#   tools/container.sh system   as root: Python, make, git, a browser
#   tools/container.sh course   the environment, the pretrained model, the built book
#   tools/container.sh serve    the book at port 8000, JupyterLab at port 8888
set -euo pipefail
cd "$(dirname "$0")/.."

case "${1:-}" in
system)
  apt-get update --quiet --quiet
  DEBIAN_FRONTEND=noninteractive apt-get install --quiet --quiet --yes --no-install-recommends \
    ca-certificates git make python3 python3-venv >/dev/null
  tools/system_packages.sh
  ;;
course)
  make .venv/ready .venv/model book
  ;;
serve)
  .venv/bin/python -m http.server --directory _build/html 8000 &
  exec .venv/bin/jupyter lab --ip 0.0.0.0 --port 8888 --no-browser exercises
  ;;
*)
  echo "say system, course or serve: see the head of $0" >&2
  exit 2
  ;;
esac
