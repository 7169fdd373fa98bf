#!/bin/sh
# Start compose.yaml with Docker, vote through https, back it up while votes arrive, restore and verify the copy, remove everything.
#
#     sh deploy/try_compose.sh [local]
#
# Needs Docker with compose 2, and free ports 80 and 443. With "local", images that are missing are not pulled but made from Debian's
# packages, which needs debootstrap and root: stand-ins for Python, PostgreSQL and Caddy where no registry can be reached.
set -eu
cd "$(dirname "$0")/.."
folder=$(mktemp -d)
chmod 777 "$folder" # the server's user writes here too
ARENA_NAME=localhost # Caddy makes certificates for this name by itself
POSTGRES_PASSWORD=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
export ARENA_NAME POSTGRES_PASSWORD
compose() { docker compose --project-name multiduel-try -f deploy/compose.yaml "$@"; }
missing() { ! docker image inspect "$1" >/dev/null 2>&1; }
trap 'compose down --volumes --remove-orphans >/dev/null 2>&1 || true; rm -rf "$folder"' EXIT

if [ "${1:-}" = local ]; then
    python=docker.io/library/python:3.13-slim postgres=docker.io/library/postgres:17 caddy=docker.io/library/caddy:2
    if missing $python; then
        debootstrap --variant=minbase --include=python3,python3-venv,ca-certificates trixie "$folder/root" >/dev/null
        cp /etc/ssl/certs/ca-certificates.crt "$folder/root/etc/ssl/certs/" # this machine may have an authority of its own
        chroot "$folder/root" sh -c 'apt-get clean; rm -rf /var/lib/apt/lists/*'
        tar -C "$folder/root" -c . | docker import - $python
        rm -rf "$folder/root"
    fi
    missing $postgres && docker build -t $postgres - <<DOCKERFILE
FROM $python
RUN apt-get update -qq && apt-get install -qq --no-install-recommends postgresql-17 && rm -rf /var/lib/postgresql/17
RUN mkdir -p /var/lib/postgresql/data && chown postgres /var/lib/postgresql/data
USER postgres
ENV PATH=/usr/lib/postgresql/17/bin:\$PATH PGDATA=/var/lib/postgresql/data
CMD test -s \$PGDATA/PG_VERSION || { echo "\$POSTGRES_PASSWORD" > /tmp/password \\
 && initdb --username "\$POSTGRES_USER" --pwfile /tmp/password --auth-host scram-sha-256 --auth-local trust --encoding UTF8 --locale C.UTF-8 \\
 && echo 'host all all all scram-sha-256' >> \$PGDATA/pg_hba.conf \\
 && echo "CREATE DATABASE \$POSTGRES_DB" | postgres --single -j postgres; } && exec postgres -c listen_addresses='*' -c unix_socket_directories=/tmp,/var/run/postgresql
DOCKERFILE
    missing $caddy && docker build -t $caddy - <<DOCKERFILE
FROM $python
RUN apt-get update -qq && apt-get install -qq --no-install-recommends caddy
ENV XDG_DATA_HOME=/data XDG_CONFIG_HOME=/config
CMD ["caddy", "run", "--config", "/etc/caddy/Caddyfile", "--adapter", "caddyfile"]
DOCKERFILE
    :
fi

compose build
key=$(compose run --rm -T arena keys new | grep -o 'mdserver\.\S*')
compose up --detach --wait
compose ps
for _ in $(seq 60); do # until Caddy has made an authority of its own
    compose cp caddy:/data/caddy/pki/authorities/local/root.crt "$folder/root.crt" 2>/dev/null && break || sleep 1
done
chmod 644 "$folder/root.crt"
docker run --rm --network host --volume "$folder:/try" --volume "$PWD/deploy/try_votes.py:/try_votes.py:ro" \
    --env SSL_CERT_FILE=/try/root.crt --entrypoint python multiduel-try-arena /try_votes.py https://localhost "$key" /try &
votes=$!

# Back up while votes arrive. Each vote that was acknowledged before must be in the copy.
until [ "$(cat "$folder/acknowledged" 2>/dev/null | wc -l)" -ge 50 ]; do kill -0 $votes; sleep 0.2; done
sort "$folder/acknowledged" > "$folder/before"
compose exec -T postgres pg_dump -U arena --format=custom arena > "$folder/arena.dump"
sleep 2
touch "$folder/stop"
wait $votes
compose exec -T postgres createdb -U arena restored
compose exec -T postgres pg_restore -U arena --no-owner --exit-on-error --dbname restored < "$folder/arena.dump"
restored() {
    compose run --rm -T --volume "$folder:/try" --env "MULTIDUEL_ARENA_DB=postgresql://arena:$POSTGRES_PASSWORD@postgres/restored" arena "$@"
}
restored verify
restored export --votes /try/restored.csv
cut -d, -f1 "$folder/restored.csv" | sort > "$folder/copied"
echo "Votes acknowledged before the backup: $(wc -l < "$folder/before"), in the copy: $(($(wc -l < "$folder/copied") - 1)), in all:" \
    "$(wc -l < "$folder/acknowledged"). Lost: $(comm -23 "$folder/before" "$folder/copied" | wc -l)."
[ -z "$(comm -23 "$folder/before" "$folder/copied")" ]
[ "$(head -c 4 "$folder/votes.parquet")" = PAR1 ]
docker images multiduel-try-arena
