#!/bin/sh
# Build the image with buildah, start it on SQLite, back it up while votes arrive, verify the copy. Needs root, or a system where
# buildah works without.
#
#     sh deploy/try_container.sh [BASE]
#
# BASE is a base image, if not the Dockerfile's own. Where no registry can be reached, one can be made with Debian's debootstrap:
#
#     debootstrap --variant=minbase --include=python3,python3-venv,ca-certificates trixie rootfs
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
cp deploy/try_votes.py "$folder"
chown -R 10001 "$folder"
port=18427
inside() { # in a folder of its own: buildah gives every run a new /data
    buildah run --network host --volume "$folder:/try" --workingdir /try --env MULTIDUEL_ARENA_DB=/try/arena.db \
        --env NUMBA_CACHE_DIR=/try/compiled "$container" -- "$@"
}
server='' votes=''
trap 'for one in $votes $server; do kill "$one" 2>/dev/null || true; done; buildah rm "$container" >/dev/null; rm -rf "$folder"' EXIT

key=$(inside multiduel arena keys new --create-db | grep -o 'mdserver\.\S*')
inside multiduel arena serve --public --name localhost --port $port > "$folder/log" 2>&1 &
server=$!
inside python try_votes.py "http://127.0.0.1:$port" "$key" /try &
votes=$!

# Back up while votes arrive. Each vote that was acknowledged before must be in the copy.
until [ "$(cat "$folder/acknowledged" 2>/dev/null | wc -l)" -ge 50 ]; do kill -0 $votes; sleep 0.2; done
sort "$folder/acknowledged" > "$folder/before"
inside multiduel arena backup copy.db
touch "$folder/stop"
wait $votes
inside multiduel arena verify --db copy.db
inside multiduel arena export --votes copy.csv --db copy.db
inside multiduel arena export --votes copy.parquet --db copy.db
cut -d, -f1 "$folder/copy.csv" | sort > "$folder/copied"
echo "Votes acknowledged before the backup: $(wc -l < "$folder/before"), in the copy: $(($(wc -l < "$folder/copied") - 1)), in all:" \
    "$(wc -l < "$folder/acknowledged"). Lost: $(comm -23 "$folder/before" "$folder/copied" | wc -l)."
[ -z "$(comm -23 "$folder/before" "$folder/copied")" ]
[ "$(head -c 4 "$folder/votes.parquet")" = PAR1 ]
echo "User: $(inside id -u)"
buildah images "$image"
