"""The service, which alone changes arenas: it decides commands, appends their events to the journal, and answers what is read."""
