"""The papers behind policies and machines, by the key that their cards cite; as sentences and as BibTeX.

A card of somebody else's may cite in words, or by a BibTeX entry of its own.

>>> print(cited("@article{x1, author = {Ada Lovelace and Grace Hopper}, title = {{On} Duels}, journal = {JMLR}, year = 2031}"))
Lovelace, Hopper. On Duels. JMLR 2031.
>>> print(bibtex("yue2011"))
@inproceedings{yue2011,
  author = {Yue and Joachims},
  title = {{Beat the Mean Bandit}},
  booktitle = {ICML},
  year = {2011},
}
"""

from __future__ import annotations

import re

CITATIONS: dict[str, str] = {
    "none": "no paper",
    "agrawal2012": "Agrawal, Goyal. Analysis of Thompson Sampling for the Multi-armed Bandit Problem. COLT 2012.",
    "ailon2014": "Ailon, Karnin, Joachims. Reducing Dueling Bandits to Cardinal Bandits. ICML 2014.",
    "bengs2022": "Bengs, Saha, Huellermeier. "
    "Stochastic Contextual Dueling Bandits under Linear Stochastic Transitivity Models. ICML 2022.",
    "brost2016": "Brost, Seldin, Cox, Lioma. Multi-Dueling Bandits and Their Application to Online Ranker Evaluation. CIKM 2016.",
    "chen2017": "Chen, Frazier. Dueling Bandits with Weak Regret. ICML 2017.",
    "di2024": "Di, Jin, Wu, Zhao, Farnoud, Gu. "
    "Variance-Aware Regret Bounds for Stochastic Contextual Dueling Bandits. ICLR 2024.",
    "di2025": "Di, He, Gu. Nearly Optimal Algorithms for Contextual Dueling Bandits from Adversarial Feedback. ICML 2025.",
    "du2020": "Du, Wang, Huang. Dueling Bandits: From Two-dueling to Multi-dueling. AAMAS 2020.",
    "falahatgar2017": "Falahatgar, Orlitsky, Pichapati, Suresh. "
    "Maximum Selection and Ranking under Noisy Comparisons. ICML 2017.",
    "garivier2011": "Garivier, Cappe. The KL-UCB Algorithm for Bounded Stochastic Bandits and Beyond. COLT 2011.",
    "jamieson2015": "Jamieson, Katariya, Deshpande, Nowak. Sparse Dueling Bandits. AISTATS 2015.",
    "kalyanakrishnan2012": "Kalyanakrishnan, Tewari, Auer, Stone. "
    "PAC Subset Selection in Stochastic Multi-armed Bandits. ICML 2012.",
    "kaufmann2013": "Kaufmann, Kalyanakrishnan. Information Complexity in Bandit Subset Selection. COLT 2013.",
    "komiyama2015": "Komiyama, Honda, Kashima, Nakagawa. "
    "Regret Lower Bound and Optimal Algorithm in Dueling Bandit Problem. COLT 2015.",
    "komiyama2016": "Komiyama, Honda, Nakagawa. Copeland Dueling Bandit Problem: "
    "Regret Lower Bound, Optimal Algorithm, and Computationally Efficient Algorithm. ICML 2016.",
    "li2020": "Li, Markov, de Rijke, Zoghi. MergeDTS: A Method for Effective Large-Scale Online Ranker Evaluation. TOIS 2020.",
    "ren2020": "Ren, Liu, Shroff. The Sample Complexity of Best-k Items Selection from Pairwise Comparisons. ICML 2020.",
    "russo2016": "Russo. Simple Bayesian Algorithms for Best Arm Identification. COLT 2016.",
    "saha2021": "Saha. Optimal Algorithms for Stochastic Contextual Preference Bandits. NeurIPS 2021.",
    "saha2022": "Saha, Gaillard. "
    "Versatile Dueling Bandits: Best-of-both World Analyses for Learning from Relative Preferences. ICML 2022.",
    "sui2017": "Sui, Zhuang, Burdick, Yue. Multi-dueling Bandits with Dependent Arms. UAI 2017.",
    "urvoy2013": "Urvoy, Clerot, Feraud, Naamane. Generic Exploration and K-armed Voting Bandits. ICML 2013.",
    "wu2016": "Wu, Liu. Double Thompson Sampling for Dueling Bandits. NIPS 2016.",
    "yue2011": "Yue, Joachims. Beat the Mean Bandit. ICML 2011.",
    "yue2012": "Yue, Broder, Kleinberg, Joachims. The K-armed Dueling Bandits Problem. "
    "Journal of Computer and System Sciences 78, 2012.",
    "zoghi2014": "Zoghi, Whiteson, Munos, de Rijke. "
    "Relative Upper Confidence Bound for the K-Armed Dueling Bandit Problem. ICML 2014.",
    "zoghi2015copeland": "Zoghi, Karnin, Whiteson, de Rijke. Copeland Dueling Bandits. NIPS 2015.",
    "zoghi2015merge": "Zoghi, Whiteson, de Rijke. MergeRUCB: A Method for Large-Scale Online Ranker Evaluation. WSDM 2015.",
}

JOURNALS = ("Journal", "TOIS", "JMLR", "Transactions")  # words in what is no conference
WORDS = r"^(?P<authors>[^.]+)\. (?P<title>.+)\. (?P<venue>[^.]+?),? (?P<year>(?:19|20)\d\d)\.?$"


def is_citation(cite: str) -> bool:
    """Does this say which paper is meant?"""
    return cite in CITATIONS or bool(re.match(r"@\w+\s*\{", cite.strip())) or len(cite.split()) > 2


def cited(cite: str) -> str:
    """What a card cites as a sentence: 'Authors. Title. Venue Year.'"""
    if not cite.strip().startswith("@"):
        return CITATIONS.get(cite, cite)
    fields = _fields(cite)
    names = re.split(r"\s+and\s+", fields.get("author", ""))
    authors = ", ".join(name.split(",")[0] if "," in name else name.split()[-1] for name in names if name.strip())
    venue = fields.get("booktitle") or fields.get("journal") or fields.get("publisher") or fields.get("howpublished", "")
    parts = [authors, fields.get("title", ""), " ".join(word for word in (venue, fields.get("year", "")) if word)]
    return ". ".join(part for part in parts if part) + "."


def bibtex(cite: str) -> str:
    """What a card cites as a BibTeX entry; "" if it cites no paper. Our own know the authors' surnames only."""
    text = CITATIONS.get(cite, cite)
    if cite == "none" or cite.strip().startswith("@"):
        return "" if cite == "none" else cite.strip()
    found = re.match(WORDS, text)
    if found is None:
        return f"@misc{{{_key(text)},\n  note = {{{text}}},\n}}"
    journal = any(word in found["venue"] for word in JOURNALS)
    lines = {
        "author": " and ".join(found["authors"].split(", ")),
        "title": f"{{{found['title']}}}",
        "journal" if journal else "booktitle": found["venue"],
        "year": found["year"],
    }
    key = cite if cite in CITATIONS else _key(text)
    entry = "".join(f"  {name} = {{{value}}},\n" for name, value in lines.items())
    return f"@{'article' if journal else 'inproceedings'}{{{key},\n{entry}}}"


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
