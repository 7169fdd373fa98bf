#!/bin/sh
# Build the image with buildah, start it, vote in it, back it up, verify the copy. Needs root, or a system where buildah works without.
#
#     sh deploy/try_container.sh [BASE]
#
# BASE is a base image, if not the Dockerfile's own. Where no registry can be reached, one can be made with Debian's debootstrap:
#
#     debootstrap --variant=minbase --include=python3,python3-venv,ca-certificates bookworm rootfs
#     image=$(buildah from scratch); buildah add $image rootfs /; buildah commit $image localhost/base
#     sh deploy/try_container.sh localhost/base
#
# PIP_VOLUME=FOLDER:FOLDER and PIP_CONF=FILE give the build a folder of wheels and pip's settings, where there is no package index.
set -eu
cd "$(dirname "$0")/.."
export BUILDAH_ISOLATION="${BUILDAH_ISOLATION:-chroot}"
image=localhost/multiduel-arena:try
buildah build --format docker --network host ${1:+--build-arg "BASE=$1"} ${PIP_VOLUME:+--volume "$PIP_VOLUME"} \
    ${PIP_CONF:+--volume "$PIP_CONF:/etc/pip.conf"} -f deploy/Dockerfile -t "$image" .
container=$(buildah from "$image")
folder=$(mktemp -d)
chown 10001 "$folder"
port=18427
inside() { # in a folder of its own: buildah gives every run a new /data
    buildah run --network host --volume "$folder:/try" --workingdir /try --env MULTIDUEL_ARENA_DB=/try/arena.db \
        --env NUMBA_CACHE_DIR=/try/compiled "$container" -- "$@"
}
server=
trap 'test -z "$server" || kill "$server" 2>/dev/null || true; buildah rm "$container" >/dev/null; rm -rf "$folder"' EXIT

printf 'name,content\nmild,Good morning.\nsharp,Morning!\nbitter,What do you want?\n' > "$folder/options.csv"
inside multiduel arena key --create-db > "$folder/server.key"
inside multiduel arena create greetings --options options.csv --slate-size 3 --raters open > "$folder/keys"
link=$(sed -n "s/^link's key *//p" "$folder/keys")
inside multiduel arena serve --public --name localhost --port $port > "$folder/log" 2>&1 &
server=$!
inside python - "http://127.0.0.1:$port" "$link" <<'PYTHON'
import sys
import time
import urllib.request

from multiduel.arena import Client

for _ in range(600):
    try:
        urllib.request.urlopen(f"{sys.argv[1]}/health/ready", timeout=4)
        break
    except OSError:
        time.sleep(0.1)
rater = Client(*sys.argv[1:]).join("Ada")
ticket = rater.ask()
for _ in range(10):
    assert rater.content(ticket, 0)
    answer = rater.vote(ticket, {"rank": [0, 1, 2]}, next=True)
    assert answer["counted"] == "counted"
    ticket = answer["next"]
print("10 votes were acknowledged.")
PYTHON
inside id -u
inside multiduel arena backup copy.db
inside multiduel arena verify --db copy.db
buildah images "$image"
