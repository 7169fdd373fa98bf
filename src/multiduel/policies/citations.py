"""The papers behind policies and machines, by the key that their descriptions cite; as sentences and as BibTeX.

A plug-in policy may cite in words, or by a BibTeX entry of its own.

>>> print(cited("@article{x1, author = {Ada Lovelace and Grace Hopper}, title = {{On} Duels}, journal = {JMLR}, year = 2031}"))
Lovelace, Hopper. On Duels. JMLR 2031.
>>> print(bibtex("yue2011"))
@inproceedings{yue2011,
  author = {Yisong Yue and Thorsten Joachims},
  title = {Beat the Mean Bandit},
  booktitle = {Proceedings of the 28th International Conference on Machine Learning (ICML)},
  pages = {241--248},
  year = {2011},
}
"""

from __future__ import annotations

import re
from typing import NamedTuple


class Paper(NamedTuple):
    """A published paper, as BibTeX has it. What is not known for sure is left out."""

    authors: str  # full names, as in BibTeX
    title: str
    venue: str  # in a sentence, such as "ICML"
    year: int
    where: str  # the proceedings or the journal in full
    pages: str = ""
    volume: str = ""
    number: str = ""
    series: str = ""
    doi: str = ""
    journal: bool = False


PMLR = "Proceedings of Machine Learning Research"
COLT, ICML = "Conference on Learning Theory", "International Conference on Machine Learning"
NIPS = "Neural Information Processing Systems"


def _colt(number: int) -> str:
    return f"Proceedings of the {number}th Annual {COLT} (COLT)"


def _icml(number: str) -> str:
    return f"Proceedings of the {number} {ICML} (ICML)"


PAPERS = {
    "agrawal2012": Paper("Shipra Agrawal and Navin Goyal", "Analysis of {Thompson} Sampling for the Multi-armed Bandit Problem",
                         "COLT", 2012, f"Proceedings of the 25th Annual {COLT} (COLT)", "39.1--39.26", "23", series=PMLR),
    "ailon2014": Paper("Nir Ailon and Zohar Karnin and Thorsten Joachims", "Reducing Dueling Bandits to Cardinal Bandits",
                       "ICML", 2014, _icml("31st"), "856--864", "32", "2", PMLR),
    "bengs2022": Paper("Viktor Bengs and Aadirupa Saha and Eyke H{\\\"u}llermeier",
                       "Stochastic Contextual Dueling Bandits under Linear Stochastic Transitivity Models", "ICML", 2022,
                       _icml("39th"), "1764--1786", "162", series=PMLR),
    "brost2016": Paper("Brian Brost and Yevgeny Seldin and Ingemar J. Cox and Christina Lioma",
                       "Multi-Dueling Bandits and Their Application to Online Ranker Evaluation", "CIKM", 2016,
                       "Proceedings of the 25th ACM International Conference on Information and Knowledge Management (CIKM)",
                       "2161--2166", doi="10.1145/2983323.2983659"),
    "chen2017": Paper("Bangrui Chen and Peter I. Frazier", "Dueling Bandits with Weak Regret", "ICML", 2017, _icml("34th"),
                      "731--739", "70", series=PMLR),
    "di2024": Paper("Qiwei Di and Tao Jin and Yue Wu and Heyang Zhao and Farzad Farnoud and Quanquan Gu",
                    "Variance-Aware Regret Bounds for Stochastic Contextual Dueling Bandits", "ICLR", 2024,
                    "Proceedings of the 12th International Conference on Learning Representations (ICLR)"),
    "di2025": Paper("Qiwei Di and Jiafan He and Quanquan Gu",
                    "Nearly Optimal Algorithms for Contextual Dueling Bandits from Adversarial Feedback", "ICML", 2025,
                    _icml("42nd"), "13513--13545", "267", series=PMLR),
    "du2020": Paper("Yihan Du and Siwei Wang and Longbo Huang", "Dueling Bandits: From Two-dueling to Multi-dueling",
                    "AAMAS", 2020,
                    "Proceedings of the 19th International Conference on Autonomous Agents and Multiagent Systems (AAMAS)"),
    "falahatgar2017": Paper("Moein Falahatgar and Alon Orlitsky and Venkatadheeraj Pichapati and Ananda Theertha Suresh",
                            "Maximum Selection and Ranking under Noisy Comparisons", "ICML", 2017, _icml("34th"), "1088--1096",
                            "70", series=PMLR),
    "garivier2011": Paper("Aur{\\'e}lien Garivier and Olivier Capp{\\'e}",
                          "The {KL-UCB} Algorithm for Bounded Stochastic Bandits and Beyond", "COLT", 2011, _colt(24), "359--376",
                          "19", series=PMLR),
    "jamieson2015": Paper("Kevin Jamieson and Sumeet Katariya and Atul Deshpande and Robert Nowak", "Sparse Dueling Bandits",
                          "AISTATS", 2015,
                          "Proceedings of the 18th International Conference on Artificial Intelligence and Statistics (AISTATS)",
                          "416--424", "38", series=PMLR),
    "kalyanakrishnan2012": Paper("Shivaram Kalyanakrishnan and Ambuj Tewari and Peter Auer and Peter Stone",
                                 "{PAC} Subset Selection in Stochastic Multi-armed Bandits", "ICML", 2012, _icml("29th"),
                                 "655--662"),
    "kaufmann2013": Paper("Emilie Kaufmann and Shivaram Kalyanakrishnan", "Information Complexity in Bandit Subset Selection",
                          "COLT", 2013, _colt(26), "228--251", "30", series=PMLR),
    "komiyama2015": Paper("Junpei Komiyama and Junya Honda and Hisashi Kashima and Hiroshi Nakagawa",
                          "Regret Lower Bound and Optimal Algorithm in Dueling Bandit Problem", "COLT", 2015, _colt(28),
                          "1141--1154", "40", series=PMLR),
    "komiyama2016": Paper("Junpei Komiyama and Junya Honda and Hiroshi Nakagawa",
                          "Copeland Dueling Bandit Problem: Regret Lower Bound, Optimal Algorithm, and Computationally Efficient "
                          "Algorithm", "ICML", 2016, _icml("33rd"), "1235--1244", "48", series=PMLR),
    "li2020": Paper("Chang Li and Ilya Markov and Maarten de Rijke and Masrour Zoghi",
                    "{MergeDTS}: A Method for Effective Large-Scale Online Ranker Evaluation", "TOIS", 2020,
                    "ACM Transactions on Information Systems", doi="10.1145/3411753", journal=True),
    "ren2020": Paper("Wenbo Ren and Jia Liu and Ness Shroff",
                     "The Sample Complexity of Best-$k$ Items Selection from Pairwise Comparisons", "ICML", 2020, _icml("37th"),
                     "8051--8072", "119", series=PMLR),
    "russo2016": Paper("Daniel Russo", "Simple {Bayesian} Algorithms for Best Arm Identification", "COLT", 2016, _colt(29),
                       "1417--1418", "49", series=PMLR),
    "saha2021": Paper("Aadirupa Saha", "Optimal Algorithms for Stochastic Contextual Preference Bandits", "NeurIPS", 2021,
                      f"Advances in {NIPS} (NeurIPS)", "30050--30062", "34"),
    "saha2022": Paper("Aadirupa Saha and Pierre Gaillard",
                      "Versatile Dueling Bandits: Best-of-both World Analyses for Learning from Relative Preferences", "ICML",
                      2022, _icml("39th"), "19011--19026", "162", series=PMLR),
    "sui2017": Paper("Yanan Sui and Vincent Zhuang and Joel W. Burdick and Yisong Yue",
                     "Multi-dueling Bandits with Dependent Arms", "UAI", 2017,
                     "Proceedings of the 33rd Conference on Uncertainty in Artificial Intelligence (UAI)"),
    "urvoy2013": Paper("Tanguy Urvoy and Fabrice Clerot and Raphael F{\\'e}raud and Sami Naamane",
                       "Generic Exploration and {K}-armed Voting Bandits", "ICML", 2013, _icml("30th"), "91--99", "28", "2",
                       PMLR),
    "wu2016": Paper("Huasen Wu and Xin Liu", "Double {Thompson} Sampling for Dueling Bandits", "NIPS", 2016,
                    f"Advances in {NIPS} (NIPS)", "649--657", "29"),
    "yue2011": Paper("Yisong Yue and Thorsten Joachims", "Beat the Mean Bandit", "ICML", 2011, _icml("28th"), "241--248"),
    "yue2012": Paper("Yisong Yue and Josef Broder and Robert Kleinberg and Thorsten Joachims",
                     "The {K}-armed Dueling Bandits Problem", "Journal of Computer and System Sciences 78,", 2012,
                     "Journal of Computer and System Sciences", "1538--1556", "78", "5", doi="10.1016/j.jcss.2011.12.028",
                     journal=True),
    "zoghi2014": Paper("Masrour Zoghi and Shimon Whiteson and R{\\'e}mi Munos and Maarten de Rijke",
                       "Relative Upper Confidence Bound for the {K}-Armed Dueling Bandit Problem", "ICML", 2014, _icml("31st"),
                       "10--18", "32", "2", PMLR),
    "zoghi2015copeland": Paper("Masrour Zoghi and Zohar S. Karnin and Shimon Whiteson and Maarten de Rijke",
                               "Copeland Dueling Bandits", "NIPS", 2015, f"Advances in {NIPS} (NIPS)", volume="28"),
    "zoghi2015merge": Paper("Masrour Zoghi and Shimon Whiteson and Maarten de Rijke",
                            "{MergeRUCB}: A Method for Large-Scale Online Ranker Evaluation", "WSDM", 2015,
                            "Proceedings of the 8th ACM International Conference on Web Search and Data Mining (WSDM)",
                            "17--26"),
}  # fmt: skip
PARTICLES = ("de", "van", "von")  # small words that belong to a surname


def _sentence(paper: Paper) -> str:
    """'Surnames. Title. Venue Year.'"""
    surnames = []
    for name in _plain(paper.authors).split(" and "):
        *first, last = name.split()
        surnames.append(f"{first[-1]} {last}" if first and first[-1] in PARTICLES else last)
    return f"{', '.join(surnames)}. {_plain(paper.title)}. {paper.venue} {paper.year}."


def _plain(text: str) -> str:
    """BibTeX's text without its accents, braces and dollars."""
    return re.sub(r"[{}$]", "", re.sub(r"\{\\.(\w)\}", r"\1", text))


CITATIONS: dict[str, str] = {"none": "no paper", **{key: _sentence(paper) for key, paper in PAPERS.items()}}
JOURNALS = ("Journal", "TOIS", "JMLR", "Transactions")  # words in what is no conference
WORDS = r"^(?P<authors>[^.]+)\. (?P<title>.+)\. (?P<venue>[^.]+?),? (?P<year>(?:19|20)\d\d)\.?$"


def is_citation(cite: str) -> bool:
    """Does this say which paper is meant?"""
    return cite in CITATIONS or bool(re.match(r"@\w+\s*\{", cite.strip())) or len(cite.split()) > 2


def cited(cite: str) -> str:
    """What a description cites, as a sentence: 'Authors. Title. Venue Year.'"""
    if not cite.strip().startswith("@"):
        return CITATIONS.get(cite, cite)
    fields = _fields(cite)
    names = re.split(r"\s+and\s+", fields.get("author", ""))
    authors = ", ".join(name.split(",")[0] if "," in name else name.split()[-1] for name in names if name.strip())
    venue = fields.get("booktitle") or fields.get("journal") or fields.get("publisher") or fields.get("howpublished", "")
    parts = [authors, fields.get("title", ""), " ".join(word for word in (venue, fields.get("year", "")) if word)]
    return ". ".join(part for part in parts if part) + "."


def bibtex(cite: str) -> str:
    """What a policy description cites as a BibTeX entry; "" if it cites no paper."""
    if cite == "none" or cite.strip().startswith("@"):
        return "" if cite == "none" else cite.strip()
    if cite in PAPERS:
        paper = PAPERS[cite]
        known = {"pages": paper.pages, "volume": paper.volume, "number": paper.number, "series": paper.series, "doi": paper.doi}
        lines = {"author": paper.authors, "title": paper.title, "journal" if paper.journal else "booktitle": paper.where}
        return _entry("article" if paper.journal else "inproceedings", cite, lines | known | {"year": str(paper.year)})
    found = re.match(WORDS, cite)
    if found is None:
        return f"@misc{{{_key(cite)},\n  note = {{{cite}}},\n}}"
    journal = any(word in found["venue"] for word in JOURNALS)
    lines = {
        "author": " and ".join(found["authors"].split(", ")),
        "title": f"{{{found['title']}}}",
        "journal" if journal else "booktitle": found["venue"],
        "year": found["year"],
    }
    return _entry("article" if journal else "inproceedings", _key(cite), lines)


def _entry(kind: str, key: str, fields: dict[str, str]) -> str:
    lines = "".join(f"  {name} = {{{value}}},\n" for name, value in fields.items() if value)
    return f"@{kind}{{{key},\n{lines}}}"


def _key(text: str) -> str:
    """A key for a citation in words: the first author and the year."""
    years = re.findall(r"\b(?:19|20)\d\d\b", text)
    return re.sub(r"\W", "", text.split()[0]).lower() + (years[-1] if years else "")


def _fields(entry: str) -> dict[str, str]:
    """The fields of a BibTeX entry, without their braces and quotes."""
    fields = {}
    for found in re.finditer(r"(\w+)\s*=\s*", entry):
        depth, value = 0, ""
        for letter in entry[found.end() :]:
            depth += (letter == "{") - (letter == "}")
            if depth < 0 or (depth == 0 and letter == ","):
                break
            value += letter
        fields[found[1].lower()] = " ".join(re.sub(r'[{}"]', "", value).split())
    return fields
