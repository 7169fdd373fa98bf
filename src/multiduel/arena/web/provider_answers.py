"""Read what a provider of accounts answers: no more than a few pages of JSON need, and never unpacked from something smaller."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from httpx2 import AsyncByteStream, AsyncHTTPTransport, ReadError, Request, Response

if TYPE_CHECKING:
    import ssl

MOST = 1_000_000  # bytes; the keys and the description of a large provider have 20,000


class BoundedTransport(AsyncHTTPTransport):
    def __init__(self, tls: ssl.SSLContext) -> None:
        super().__init__(verify=tls, trust_env=False)

    async def handle_async_request(self, request: Request) -> Response:
        request.headers["Accept-Encoding"] = "identity"
        response = await super().handle_async_request(request)
        assert isinstance(response.stream, AsyncByteStream)
        bounded = _Bounded(response.stream)
        if response.headers.get("content-encoding", "identity") != "identity":
            await bounded.aclose()
            raise ReadError("The answer is packed.")
        return Response(response.status_code, headers=response.headers, stream=bounded, extensions=response.extensions)


class _Bounded(AsyncByteStream):
    def __init__(self, stream: AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for part in self._stream:
            size += len(part)
            if size > MOST:
                raise ReadError(f"The answer has more than {MOST:,} bytes.")
            yield part

    async def aclose(self) -> None:
        await self._stream.aclose()
