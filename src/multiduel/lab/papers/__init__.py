"""Other papers as files: a folder each, with an experiment for every panel and the paper's claims, judged as ours are."""
