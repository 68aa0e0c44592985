"""A Transformer without one of its parts: what is each part worth?

`make` trains a small model with all its parts, and then models from which one part has been taken,
on the same text and from the same seeds. A model that may look ahead is measured as it would have
to write: with the mask. Without heads it has one, and without tying a readout of its own; a second
one of these is narrower, so that it has about as many weights as the whole model. Most are then
trained for longer, because attention, positions and heads pay late.
"""

import time

import torch
from torch import Tensor, nn

from attn_course.data.novels import pieces
from attn_course.data.windows import drawn_windows
from attn_course.layer.fast_attention import fast_attention
from attn_course.layer.key_value_cache import KeyValueCache
from attn_course.multi_head import merge_heads, split_heads
from attn_course.recurrence import count_parameters
from attn_course.self_attention import rotate_by_position
from attn_course.trained.store import write_record
from attn_course.trained.writers import Run, bits, numbers_of, window_loss
from attn_course.training import train
from attn_course.transformer import INITIAL_SCALE, Block, LanguageModel

SIZES = {"d_model": 64, "num_heads": 4, "d_hidden": 256, "num_layers": 2, "context": 64}
RATE, STEPS, BATCH_SIZE, SEEDS, EVERY = 4e-3, 200, 16, (0, 1, 2), 25
LONGER = 800
OF_THE_LONGER = ("nothing", "residual", "norm", "maps", "attention", "positions")
OF_THE_LONGER += ("heads", "tying", "tying, narrower")


class NoResidual(Block):
    """The output of each part replaces the stream."""

    def forward(self, stream: Tensor, cache: KeyValueCache | None = None) -> Tensor:
        """The maps of what the tokens looked up."""
        return self.think(self.norm_maps(self.look(self.norm_attention(stream), cache)))


class NormAfter(Block):
    """Each sum is normalized, instead of what the parts read: the form of 2017."""

    def forward(self, stream: Tensor, cache: KeyValueCache | None = None) -> Tensor:
        """The stream, normalized after each addition."""
        stream = self.norm_attention(stream + self.look(stream, cache))
        return self.norm_maps(stream + self.think(stream))


class NoNorm(Block):
    """The parts read the stream as it is."""

    def __init__(self, *sizes: int) -> None:
        super().__init__(*sizes)
        self.norm_attention = self.norm_maps = nn.Identity()


class NoMaps(Block):
    """Only attention adds to the stream."""

    def __init__(self, *sizes: int) -> None:
        super().__init__(*sizes)
        del self.norm_maps, self.widen, self.narrow

    def forward(self, stream: Tensor, cache: KeyValueCache | None = None) -> Tensor:
        """The stream, with what the tokens looked up added."""
        return stream + self.look(self.norm_attention(stream), cache)


class NoAttention(Block):
    """Only the maps add to the stream: a token knows of no other."""

    def __init__(self, *sizes: int) -> None:
        super().__init__(*sizes)
        del self.norm_attention, self.attention

    def forward(self, stream: Tensor, cache: KeyValueCache | None = None) -> Tensor:
        """The stream, with what the maps made of it added."""
        return stream + self.think(self.norm_maps(stream))


class NoPositions(Block):
    """Queries and keys are not turned."""

    def look(self, tokens: Tensor, cache: KeyValueCache | None = None) -> Tensor:
        """Return what causal attention without positions takes from the tokens so far."""
        return self.attention(tokens, is_causal=True)


class NoMask(Block):
    """A token also attends to later ones while the model is trained."""

    def look(self, tokens: Tensor, cache: KeyValueCache | None = None) -> Tensor:
        """Return what attention takes from all tokens; once trained, from the tokens so far."""
        if not self.training:
            return super().look(tokens, cache)
        layer = self.attention
        projections = layer.project_query, layer.project_key, layer.project_value
        query, key, value = (split_heads(of(tokens), layer.num_heads) for of in projections)
        looked = fast_attention(rotate_by_position(query), rotate_by_position(key), value)
        return layer.project_output(merge_heads(looked))


class TwoTables(LanguageModel):
    """The readout is a table of its own, which begins as small as the embedding."""

    def __init__(self, vocab_size: int, **sizes: int) -> None:
        super().__init__(vocab_size, **sizes)
        self.readout = nn.Parameter(INITIAL_SCALE * torch.randn(vocab_size, sizes["d_model"]))

    def forward(self, tokens: Tensor) -> Tensor:
        """The logits of the token that follows each token."""
        stream = self.input_scale * self.embedding(tokens)
        for block in self.blocks:
            stream = block(stream)
        return self.norm(stream) @ self.readout.T


WITHOUT: dict[str, type[Block]] = {
    "nothing": Block,
    "scale": Block,
    "residual": NoResidual,
    "norm": NoNorm,
    "norm before": NormAfter,
    "maps": NoMaps,
    "attention": NoAttention,
    "positions": NoPositions,
    "mask": NoMask,
    "heads": Block,
    "tying": Block,
    "tying, narrower": Block,
}
OTHER_SIZES = {"heads": {"num_heads": 1}, "tying, narrower": {"d_model": 56, "d_hidden": 224}}


def make() -> None:
    """Train, measure and record all of them; the record is rewritten after each run: 9 minutes."""
    runs: list[Run] = []
    settings = {"steps": STEPS, "rate": RATE, "every": EVERY, "sizes": SIZES}
    for seed in SEEDS:
        for without in WITHOUT:
            runs.append(run(without, seed))
            write_record(__file__, "ablations", runs, **settings)
    longer: list[Run] = []
    for seed in SEEDS:
        for without in OF_THE_LONGER:
            longer.append(run(without, seed, LONGER))
            write_record(__file__, "ablations", runs, **settings, longer=longer)


def build(without: str, seed: int, num_layers: int = SIZES["num_layers"]) -> LanguageModel:
    """A model without a part; what is left begins with the weights that the whole model has."""
    sizes = SIZES | OTHER_SIZES.get(without, {}) | {"num_layers": num_layers}
    kind = TwoTables if without.startswith("tying") else LanguageModel
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = kind(len(pieces()), **sizes)
        of_block = tuple(sizes[name] for name in ("d_model", "num_heads", "d_hidden", "context"))
        blocks = nn.ModuleList(WITHOUT[without](*of_block) for _ in model.blocks)
    if without != "scale":
        model.input_scale = sizes["d_model"] ** 0.5
    blocks.load_state_dict(model.blocks.state_dict(), strict=False)
    model.blocks = blocks
    if without in ("norm", "norm before"):
        model.norm = nn.Identity()
    return model


def run(without: str, seed: int, steps: int = STEPS) -> Run:
    """Train a model without a part; record its losses, and its bits on unseen text."""
    return {"without": without, **measured(build(without, seed), seed, steps, RATE)}


def measured(model: LanguageModel, seed: int, steps: int, rate: float) -> Run:
    """Train a model of these sizes, and return what its run records, whatever was changed."""
    start = time.process_time()
    stream = drawn_windows(numbers_of("training"), SIZES["context"] + 1, BATCH_SIZE, seed)
    settings = {"learning_rate": rate, "seed": seed, "progress": False}
    history = train(model, stream, window_loss, steps, **settings)
    seconds = time.process_time() - start
    means = [part.mean().item() for part in torch.tensor(history.losses).split(EVERY)]
    return {
        "seed": seed,
        "parameters": count_parameters(model),
        "losses": [round(mean, 3) for mean in means],
        "validation": round(bits(model.eval(), "validation", SIZES["context"]), 3),
        "cpu_seconds": round(seconds, 1),
    }
