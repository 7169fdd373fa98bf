"""The papers behind policies and machines, by the key that their cards cite."""

from __future__ import annotations

CITATIONS: dict[str, str] = {
    "none": "no paper",
    "agrawal2012": "Agrawal, Goyal. Analysis of Thompson Sampling for the Multi-armed Bandit Problem. COLT 2012.",
    "ailon2014": "Ailon, Karnin, Joachims. Reducing Dueling Bandits to Cardinal Bandits. ICML 2014.",
    "du2020": "Du, Wang, Huang. Dueling Bandits: From Two-dueling to Multi-dueling. AAMAS 2020.",
    "garivier2011": "Garivier, Cappe. The KL-UCB Algorithm for Bounded Stochastic Bandits and Beyond. COLT 2011.",
    "kalyanakrishnan2012": "Kalyanakrishnan, Tewari, Auer, Stone. PAC Subset Selection in Stochastic Multi-armed Bandits. ICML 2012.",
    "kaufmann2013": "Kaufmann, Kalyanakrishnan. Information Complexity in Bandit Subset Selection. COLT 2013.",
}
