"""The arena's HTTP API. FastAPI is needed from here on: pip install 'multiduel[arena]'."""
