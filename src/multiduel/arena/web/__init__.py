"""The web server: who may send what, how often and how much, and one application made of the JSON API and the pages."""
