"""The JSON API: routes, and the types of the OpenAPI document."""
