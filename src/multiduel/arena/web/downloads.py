"""The table of votes as a download, for the API and the pages."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from typing import IO, Literal

from starlette.background import BackgroundTask
from starlette.responses import Response, StreamingResponse

from multiduel.arena.files.vote_table import rows_of, vote_table, write_parquet
from multiduel.arena.web.context import AppContext

PARQUET = "application/vnd.apache.parquet"
IN_MEMORY = 8_000_000  # bytes of a Parquet file; a larger one lies on the disk until it is sent
PART = 256_000  # bytes sent at once

Format = Literal["csv", "parquet"]


async def votes_file(app_context: AppContext, arena: str, format: Format, headers: dict[str, str] | None = None) -> Response:
    """The votes of an arena. CSV is sent while it is made; a Parquet file is made first."""
    if format == "csv":
        rows = await app_context.slow(arena, rows_of, app_context.service, arena)
        lines = app_context.parts(arena, vote_table(rows))
        return StreamingResponse(lines, media_type="text/csv; charset=utf-8", headers=headers)
    made = await app_context.slow(arena, _parquet, app_context, arena)
    return StreamingResponse(_parts(made), media_type=PARQUET, headers=headers, background=BackgroundTask(made.close))


def _parquet(app_context: AppContext, arena: str) -> IO[bytes]:
    made = tempfile.SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115 - closed when it is sent
    write_parquet(rows_of(app_context.service, arena), made)
    made.seek(0)
    return made


def _parts(made: IO[bytes]) -> Iterator[bytes]:
    while part := made.read(PART):
        yield part
