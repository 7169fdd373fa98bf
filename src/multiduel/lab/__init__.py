"""For researchers: experiments from files, results in folders, tables and figures of them. The paper is in lab.paper."""
