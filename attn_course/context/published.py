"""Sizes of published models, as their reports state them: what each keeps of a token."""

from typing import NamedTuple

from attn_course.long_context import CacheSizes

EACH, SHARED, SHORT = "a pair for each head", "shared pairs", "one short vector"


class Published(NamedTuple):
    """A published model.

    Attributes:
        year: The year of its report.
        kind: Which heads share keys and values.
        num_heads: Number of heads of queries in a layer.
        sizes: What it keeps.
        source: Key of its report in the bibliography.
    """

    year: int
    kind: str
    num_heads: int
    sizes: CacheSizes
    source: str

    def kilobytes_a_token(self) -> float:
        """Thousands of bytes kept of a token, with two bytes a number."""
        return self.sizes.size(1) / 1000


PUBLISHED = {
    "GPT-3 175B": Published(2020, EACH, 96, CacheSizes(96, 96, 128), "brown2020language"),
    "LLaMA 65B": Published(2023, EACH, 64, CacheSizes(80, 64, 128), "touvron2023llama"),
    "Llama 3 405B": Published(2024, SHARED, 128, CacheSizes(126, 8, 128), "grattafiori2024llama"),
    "Llama 3 70B": Published(2024, SHARED, 64, CacheSizes(80, 8, 128), "grattafiori2024llama"),
    "Mistral 7B": Published(2023, SHARED, 32, CacheSizes(32, 8, 128), "jiang2023mistral"),
    "PaLM 540B": Published(2022, SHARED, 48, CacheSizes(118, 1, 256), "chowdhery2023palm"),
    "gpt-oss-120b": Published(2025, SHARED, 64, CacheSizes(36, 8, 64), "openai2025gptoss"),
    "DeepSeek-V3": Published(
        2024, SHORT, 128, CacheSizes(61, 0, 128, d_latent=512 + 64), "deepseek2024v3"
    ),
}
