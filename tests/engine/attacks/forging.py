"""Messages to the grader of an answer's own making."""

from tests.engine.attacks import Attack

# Messages of an answer's own making, on the connection on which its outcomes go.
SENDING = """
import json, os, socket, struct, sys
def softmax(scores):
    frame = sys._getframe()
    while 'asked' not in frame.f_locals: frame = frame.f_back
    one = frame.f_locals['connection']
    form, body = {message}
    one.sendall(struct.pack('!IQ', {length}, len(body)) + form + body)
    one.recv(10)
    os._exit(0)
"""


def sending(message: str, noticed: str = "crashed.*sent no valid answer", length="len(form)"):
    """An answer that sends a message itself."""
    return Attack(SENDING.format(message=message, length=length), noticed)


FORGING = {
    "no JSON": sending("b'{', b''"),
    "a bare list": sending("b'[1]', b''"),
    "too long": sending("b'1', b''", length="2**31"),
    "never done": sending("b'1', b''", "not graded.*it waited", length="100"),
    "nothing of what is expected": sending("""b'{"dict": {}}', b''"""),
    "points": sending("""b'{"dict": {"score": 4.0, "rows": {"list": []}, "points": 4.0}}', b''"""),
    "an odd error": sending(
        """b'{"dict": {"error": 3, "borrowed": {"list": []}, "output": 1}}', b''"""
    ),
    "an odd list of what it calls": sending(
        """b'{"dict": {"error": null, "borrowed": 3, "output": 1}}', b''"""
    ),
    "no inputs": sending(
        """b'{"dict": {"error": null, "borrowed": {"tuple": []}, "output": 1, "gradients": """
        """{"dict": {}}, "inputs_after": {"dict": {}}, "readings": {"list": []}}}', b''"""
    ),
    "deep JSON": sending("b'[' * 10**6, b''"),
    "a tensor of terabytes": sending(
        """b'{"dict": {"output": {"tensor": ["float64", [99999999, 99999], 8]}}}', bytes(8)"""
    ),
    "half characters": sending("""b'{"dict": {"\\\\ud800": "\\\\udfff"}}', b''"""),
    "questions without end": Attack(
        "import sys\n"
        "def softmax(scores):\n"
        "    from hintgrader.worker.wire import send\n"
        "    frame = sys._getframe()\n"
        "    while 'asked' not in frame.f_locals: frame = frame.f_back\n"
        "    while True: send(frame.f_locals['connection'], {'callback': 0, 'arguments': []})",
        "not graded.*it waited|timed out|crashed",
    ),
}
