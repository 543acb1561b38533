#!/bin/bash
# Of the profile replicas: makes this container's PostgreSQL a standby of whichever of SERVERS accepts writes, unless it has data already,
# and starts it. With REJOIN=yes it replaces the data it has, that of an old primary for example, and ends.
set -euo pipefail
name=$1
shift

if [ ! -s "$PGDATA/PG_VERSION" ] || [ "${REJOIN:-}" = yes ]; then
  primary="host=$SERVERS port=5432 user=tideline password=$(cat /secrets/database-password) dbname=tideline target_session_attrs=read-write application_name=$name"
  # Beside it, so that an interrupted copy is never started.
  copy="$PGDATA.new"
  rm -rf "$copy"
  mkdir -p "$(dirname "$PGDATA")"
  mkdir -m 700 "$copy"
  chown postgres "$copy"
  setpriv --reuid=postgres --regid=postgres --init-groups \
    pg_basebackup --pgdata="$copy" --dbname="$primary" --checkpoint=fast --wal-method=stream
  # It looks for the primary among all servers each time, so it follows one that was promoted in its place.
  printf "primary_conninfo = '%s'\nhot_standby_feedback = 'on'\n" "$primary" >>"$copy/postgresql.auto.conf"
  touch "$copy/standby.signal"
  chown postgres "$copy/standby.signal"
  rm -rf "$PGDATA"
  mv "$copy" "$PGDATA"
fi

[ "${REJOIN:-}" = yes ] || exec docker-entrypoint.sh "$@"
