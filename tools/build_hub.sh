#!/bin/sh
# Make .venv/hub, where JupyterHub and its proxy are, for `make test-hub`.
#
# Other accounts have to run its Python, which may be another one than .venv has: the one that
# HUB_PYTHON names, or the system's. Its packages are links into .venv, as a sandbox shows what is
# in the environment of the grader and no other.
set -eu

needs() {
	echo "make test-hub needs $1" >&2
	exit 1
}
# A shell in between, because setpriv itself still has root's rights when it looks for a program.
as_another() { setpriv --reuid 65534 --regid 65534 --clear-groups sh -c 'exec "$0" "$@"' "$@"; }

[ "$(id -u)" = 0 ] || needs "root: it makes accounts"
for program in useradd setpriv npm; do
	command -v $program >/dev/null || needs "the program $program"
done
version=$(.venv/bin/python -c 'import sys; print("%d.%d" % sys.version_info[:2])')
packages=$(.venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
as_another test -r "$packages/nbgrader" || needs "a folder that other accounts may read, unlike $PWD"
for python in "${HUB_PYTHON:-}" "$(readlink -f .venv/bin/python)" "/usr/local/bin/python$version" "/usr/bin/python$version" ""; do
	as_another "$python" -c 'import venv' 2>/dev/null && break
done
[ -n "$python" ] || needs "a Python $version that other accounts may run: name it: HUB_PYTHON=/path/to/python$version"

"$python" -m venv --clear --without-pip .venv/hub
cp -al "$packages/." "$(.venv/hub/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')"
cp -al .venv/share .venv/hub/
cp -r .venv/etc .venv/hub/ # to be written into
sed '1s|/.venv/|&hub/|' .venv/bin/alembic >.venv/hub/bin/alembic # nbgrader starts it
chmod +x .venv/hub/bin/alembic
.venv/hub/bin/python -m pip install --quiet --disable-pip-version-check jupyterhub==5.5.4
npm install --silent --prefix .venv/hub configurable-http-proxy@5
touch .venv/hub/ready
