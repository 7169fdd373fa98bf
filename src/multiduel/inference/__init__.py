"""What may be said from answers whose slates were chosen along the way: evidence, intervals, verdicts, standings, how many more.

>>> from multiduel import inference
>>> print(inference.verdict([[0, 90], [2, 0]], names=["tea", "coffee"]).kind)
winner
"""

from multiduel.inference.evidence import Weighed, evidence, pair_intervals
from multiduel.inference.forecast import Forecast, forecast
from multiduel.inference.lasting import Lasting, Stood, stand
from multiduel.inference.running_tally import RunningTally
from multiduel.inference.standings import Standings, standings
from multiduel.inference.tally import Answer, Tally
from multiduel.inference.verdict import Score, Verdict, verdict
from multiduel.inference.votes import Votes

__all__ = [
    "Answer",
    "Forecast",
    "Lasting",
    "RunningTally",
    "Score",
    "Standings",
    "Stood",
    "Tally",
    "Verdict",
    "Votes",
    "Weighed",
    "evidence",
    "forecast",
    "pair_intervals",
    "stand",
    "standings",
    "verdict",
]
