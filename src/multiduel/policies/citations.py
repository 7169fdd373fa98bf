"""The papers behind policies and machines, by the key that their cards cite."""

from __future__ import annotations

CITATIONS: dict[str, str] = {
    "none": "no paper",
    "agrawal2012": "Agrawal, Goyal. Analysis of Thompson Sampling for the Multi-armed Bandit Problem. COLT 2012.",
    "ailon2014": "Ailon, Karnin, Joachims. Reducing Dueling Bandits to Cardinal Bandits. ICML 2014.",
    "brost2016": "Brost, Seldin, Cox, Lioma. Multi-Dueling Bandits and Their Application to Online Ranker Evaluation. CIKM 2016.",
    "chen2017": "Chen, Frazier. Dueling Bandits with Weak Regret. ICML 2017.",
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
