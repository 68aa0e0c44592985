"""The works in the picture of the history page: their dates, what they look at, and how.

Every date was looked up. The tests compare each with the bibliography, where the arXiv number of a
preprint contains its month: 1409.0473 became public in September 2014.
"""

from typing import NamedTuple

# The things that a work looks at.
LANES = {
    "points": "data points",
    "image": "an image",
    "sequence": "another sequence",
    "memory": "a memory",
    "itself": "the sequence itself",
}
# The ways in which it looks.
KINDS = {
    "content": "soft, by content",
    "hard": "one place at a time",
    "place": "soft, by place",
    "anew": "made cheaper, or examined",
}


class Work(NamedTuple):
    """One work of the history.

    Attributes:
        key: Its entry in the bibliography.
        date: When it became public: the month of its first preprint, else the year of print.
        printed: The year of its publication if that came later, else empty.
        who: Its one or two authors, or the first of three or more.
        what: Its contribution, in a few words.
        marks: The things it looks at and how, such as "sequence+itself:content": lanes and kinds.
        told: The anchor of the section about it.
    """

    key: str
    date: str
    printed: str
    who: str
    what: str
    marks: str
    told: str

    @property
    def label(self) -> str:
        """The work in a few words, with the year of its publication if that came later."""
        return f"{self.who}: {self.what}{f' ({self.printed})' if self.printed else ''}"

    @property
    def seen(self) -> list[tuple[str, str]]:
        """The lane and the kind of each mark, every lane with every kind."""
        lanes, kinds = (part.split("+") for part in self.marks.split(":"))
        return [(lane, kind) for lane in lanes for kind in kinds]


# GPT has no number on arXiv; its month is the month of its announcement.
TABLE = """
nadaraya1964estimating | 1964 | | Nadaraya | kernel regression | points:content | formula
watson1964smooth | 1964 | | Watson | the same formula | points:content | formula
schmidhuber1991learning | 1991 | | Schmidhuber, Huber | a fovea | image:hard | glimpses
itti1998model | 1998 | | Itti | what stands out | image:hard | glimpses
larochelle2010learning | 2010 | | Larochelle, Hinton | glimpses | image:hard | glimpses
graves2013generating | Aug 2013 | | Graves | a window that slides | sequence:place | window
mnih2014recurrent | Jun 2014 | | Mnih | glimpses for a reward | image:hard | glimpses
bahdanau2015neural | Sep 2014 | 2015 | Bahdanau | soft search | sequence:content | soft-search
weston2015memory | Oct 2014 | 2015 | Weston | best memory | memory:hard | memories
graves2014neural | Oct 2014 | | Graves | a tape, read softly | memory:content+place | memories
xu2015show | Feb 2015 | | Xu | captions of pictures | image:content+hard | soft-search
gregor2015draw | Feb 2015 | | Gregor | a window that draws | image:place | window
sukhbaatar2015end | Mar 2015 | | Sukhbaatar | all memories | memory:content | memories
luong2015effective | Aug 2015 | | Luong | products, windows | sequence:content+place | soft-search
cheng2016long | Jan 2016 | | Cheng | a reader's own past | itself:content | itself
parikh2016decomposable | Jun 2016 | | Parikh | no recurrence | sequence+itself:content | itself
miller2016key | Jun 2016 | | Miller | keys are not values | memory:content | memories
lin2017structured | Mar 2017 | | Lin | several looks | itself:content | itself
vaswani2017attention | Jun 2017 | | Vaswani | Transformer | sequence+itself:content | alone
milakov2018online | May 2018 | | Milakov, Gimelshein | one pass | sequence+itself:anew | fast
radford2018improving | Jun 2018 | | Radford | GPT | itself:content | language
devlin2019bert | Oct 2018 | 2019 | Devlin | BERT | itself:content | language
jain2019attention | Feb 2019 | | Jain, Wallace | no explanation | sequence+itself:anew | read
wiegreffe2019attention | Aug 2019 | | Wiegreffe, Pinter | or is it? | sequence+itself:anew | read
tsai2019transformer | Aug 2019 | | Tsai | a kernel again | points+sequence+itself:anew | read
shazeer2019fast | Nov 2019 | | Shazeer | shared keys | sequence+itself:anew | fast
katharopoulos2020transformers | Jun 2020 | | Katharopoulos | a recurrence | itself:anew | fast
su2024roformer | Apr 2021 | 2024 | Su | rotary positions | itself:content+place | fast
rabe2021memory | Dec 2021 | | Rabe, Staats | little memory | sequence+itself:anew | fast
dao2022flashattention | May 2022 | | Dao | FlashAttention | sequence+itself:anew | fast
ainslie2023gqa | May 2023 | | Ainslie | grouped queries | sequence+itself:anew | fast
xiao2024efficient | Sep 2023 | 2024 | Xiao | sinks | itself:anew | fast
deepseek2024v2 | May 2024 | | DeepSeek-AI | short vectors | itself:anew | fast
"""
WORKS = tuple(Work(*map(str.strip, row.split("|"))) for row in TABLE.strip().splitlines())
