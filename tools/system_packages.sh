#!/usr/bin/env bash
# Says which of the system's packages the tests need, and which are missing.
#
#   tools/system_packages.sh browser   a browser and bubblewrap; without them make test cannot begin
#   tools/system_packages.sh           all: these, and what clusters are tried with
#
# A browser is one that is there, else Playwright's own, else Debian's package. Debian's headless shell
# shows the pages as Chromium does, for three quarters of the processor time, so it is among "all".
# Packages of Debian are installed where this runs as root; elsewhere one line says which command to give.
set -euo pipefail
cd "$(dirname "$0")/.."

shell=chromium-headless-shell
there() { # the browser is on PATH, or $CHROMIUM says where, or Playwright has its own
  [ -n "${CHROMIUM:-}" ] || command -v $shell chromium chromium-browser google-chrome >/dev/null || own
}
debian() { (. /etc/os-release && [ "$ID" = debian ]) 2>/dev/null; }
own() { # and it starts: it brings none of the libraries that it needs
  local path
  [ -x .venv/bin/python ] && path=$(.venv/bin/python -c '
from playwright.sync_api import sync_playwright
with sync_playwright() as playwright:
    print(playwright.chromium.executable_path)' 2>/dev/null) && "$path" --version >/dev/null 2>&1
}

missing=()
# what drives the browser is a Node, whose one library of its own a bare Debian lacks
for node in .venv/lib/python*/site-packages/playwright/driver/node; do
  [ ! -x "$node" ] || "$node" --version >/dev/null 2>&1 || missing+=(libatomic1)
done
if [ "${1:-all}" = all ] && debian && [ -z "${CHROMIUM:-}" ]; then
  command -v $shell >/dev/null || missing+=($shell)
elif ! there; then
  # it needs the network, and libraries that a bare Debian lacks: as root, the package is surer
  if [ "$(id -u)" != 0 ] && [ -x .venv/bin/playwright ] && [ "${#missing[@]}" = 0 ]; then
    echo "Downloading Playwright's Chromium: a minute, once."
    timeout 300 .venv/bin/playwright install chromium >/dev/null 2>&1 || true
  fi
  there || missing+=($shell)
fi
[ "$(uname)" != Linux ] || command -v bwrap >/dev/null || missing+=(bubblewrap)
if [ "${1:-all}" = all ]; then
  compgen -G "/usr/lib/*/libseccomp.so.2" >/dev/null || missing+=(libseccomp2)
  command -v openssl >/dev/null || missing+=(openssl)
  # Debian keeps the server off PATH
  compgen -G "/usr/lib/postgresql/*/bin/postgres" >/dev/null || command -v postgres >/dev/null || missing+=(postgresql)
fi
[ "${#missing[@]}" -gt 0 ] || exit 0

install="apt-get install --yes --no-install-recommends ${missing[*]}"
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  echo "Installing ${missing[*]}: half a minute, once."
  apt-get update --quiet --quiet
  DEBIAN_FRONTEND=noninteractive $install --quiet --quiet >/dev/null
else
  echo "The tests need ${missing[*]}: sudo $install (or, for a browser that is elsewhere, CHROMIUM=/path/to/it)" >&2
  exit 1
fi
