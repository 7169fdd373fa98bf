"""The arena's pages: rendered on the server, with plain scripts beside. They stand apart from the JSON API: another application,
cookies instead of bearer keys, and each form with a token. ``site.with_pages`` puts both behind one gate."""
