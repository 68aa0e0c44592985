#!/bin/sh
# Set up a JupyterHub for the course; its administrator types it once, and again after an upgrade:
#
#     sudo tools/set_up_hub.sh --instructor ADA --course /home/jupyter-ada/attention
#
# It installs the course into the environment of people's servers, makes the exchange, hides the
# instructor's menus from students, and leads the instructor's formgrader to the course.
set -eu

python=/opt/tljh/user/bin/python # whose Jupyter starts people's servers; here The Littlest JupyterHub's
exchange=/srv/nbgrader/exchange instructor= course= install=yes id=attention
while [ $# -gt 0 ]; do
	case $1 in
	--python) python=$2 && shift 2 ;;
	--exchange) exchange=$2 && shift 2 ;;
	--instructor) instructor=$2 && shift 2 ;;
	--course) course=$2 && shift 2 ;;
	--course-id) id=$2 && shift 2 ;;
	--no-install) install=no && shift ;;
	*) echo "$0: $1 is no option of it" >&2 && exit 2 ;;
	esac
done
if [ -z "$instructor" ] || [ ! -f "$course/nbgrader_config.py" ]; then
	echo "Say who instructs, and which folder holds the course: --instructor ADA --course FOLDER" >&2
	exit 2
fi
home=$(getent passwd "$instructor" | cut -d: -f6)
case $course in
"$home"/*) ;;
*) echo "The formgrader opens what lies in the home of $instructor, $home, and $course does not." >&2 && exit 2 ;;
esac
if [ "$install" = yes ]; then
	# From a copy: a build leaves folders beside the sources, which would belong to root.
	copy=$(mktemp -d)
	trap 'rm -rf "$copy"' EXIT
	(cd "$course" && tar -cf - --exclude=./.git --exclude=./.venv --exclude=./_build \
		--exclude=./build --exclude=./engine/build --exclude=./grading --exclude='./*.egg-info' .) | tar -xf - -C "$copy"
	# In two steps: where one line has a hash, all must, and PyTorch has none.
	"$python" -m pip install --requirement "$course/requirements-grading.txt"
	"$python" -m pip install --requirement "$course/requirements-torch.txt" "$copy/engine" "$copy"
fi
mkdir -p "$exchange"
chmod 1777 "$exchange" # everybody hands in there, and nobody removes what is another's

etc=$("$python" -c 'import sys; print(sys.prefix)')/etc/jupyter
mkdir -p "$etc/jupyter_server_config.d" "$etc/labconfig"
cat >"$etc/nbgrader_config.py" <<END
c = get_config()
c.CourseDirectory.course_id = "$id"
c.Exchange.root = "$exchange"
END
# Its name comes after the name of nbgrader's own file, nbgrader.json, which switches them on.
menus() {
	cat >"$1/jupyter_server_config.d/nbgrader_menus.json" <<END
{"ServerApp": {"jpserver_extensions": {"nbgrader.server_extensions.formgrader": $2,
 "nbgrader.server_extensions.course_list": $2}}}
END
	cat >"$1/labconfig/page_config.json" <<END
{"disabledExtensions": {"@jupyter/nbgrader:formgrader": $3, "@jupyter/nbgrader:course-list": $3,
 "@jupyter/nbgrader:create-assignment": $3}}
END
}
menus "$etc" false true
own=$home/.jupyter
mkdir -p "$own/jupyter_server_config.d" "$own/labconfig"
menus "$own" true false
# A server starts at home; this says where the course is.
cat >"$own/nbgrader_config.py" <<END
c = get_config()
c.CourseDirectory.root = "$course"
END
chown -R "$instructor:" "$own"
chmod 755 "$etc" "$etc/jupyter_server_config.d" "$etc/labconfig"
chmod 644 "$etc/nbgrader_config.py" "$etc/jupyter_server_config.d/nbgrader_menus.json" "$etc/labconfig/page_config.json"
echo "The hub is set up: exchange $exchange, course $course of $instructor."
