#!/bin/bash
# Of the profile replicas: makes this container's PostgreSQL a standby of whichever of SERVERS accepts writes, unless it has data already,
# and starts it. With REJOIN=yes it replaces the data it has, that of an old primary for example, and ends.
set -euo pipefail
name=$1
shift

# Names of slots have no hyphens.
slot_of() { echo "${1//-/_}"; }
as_postgres() { setpriv --reuid=postgres --regid=postgres --init-groups "$@"; }
run_sql() { psql --dbname="$1" --quiet --output=/dev/null --set=ON_ERROR_STOP=1; }

if [ ! -s "$PGDATA/PG_VERSION" ] || [ "${REJOIN:-}" = yes ]; then
  slot=$(slot_of "$name")
  primary="host=$SERVERS port=5432 user=tideline password=$(cat /secrets/database-password) dbname=tideline target_session_attrs=read-write application_name=$name"
  # The primary keeps its log for this standby from now on, also while it is away. What an earlier one of this name had left is of no use.
  run_sql "$primary" <<SQL
select pg_drop_replication_slot(slot_name) from pg_replication_slots where slot_name = '$slot' and not active;
select pg_create_physical_replication_slot('$slot', true);
SQL

  # Beside it, so that an interrupted copy is never started.
  copy="$PGDATA.new"
  rm -rf "$copy"
  mkdir -p "$(dirname "$PGDATA")"
  mkdir -m 700 "$copy"
  chown postgres "$copy"
  as_postgres pg_basebackup --pgdata="$copy" --dbname="$primary" --slot="$slot" --checkpoint=fast --wal-method=stream
  # It looks for the primary among all servers each time, so it follows one that was promoted in its place. Once it is the primary itself, a
  # standby that was behind finds the log from before that here.
  cat >>"$copy/postgresql.auto.conf" <<CONF
primary_conninfo = '$primary'
primary_slot_name = '$slot'
hot_standby_feedback = 'on'
wal_keep_size = '1GB'
CONF
  touch "$copy/standby.signal"
  chown postgres "$copy/standby.signal"

  # A copy has no slots. When this standby is promoted, the others need theirs; until then they keep nothing. Only a running server makes them.
  as_postgres "$@" -D "$copy" -c listen_addresses= -c unix_socket_directories=/tmp &
  here="host=/tmp user=tideline dbname=tideline"
  until psql --dbname="$here" --quiet --output=/dev/null --command="select" 2>/dev/null; do
    [ -n "$(jobs -rp)" ] || exit 1
    sleep 0.2
  done
  for other in ${SERVERS//,/ }; do
    [ "$other" = "$name" ] || echo "select pg_create_physical_replication_slot('$(slot_of "$other")');"
  done | run_sql "$here"
  as_postgres pg_ctl --pgdata="$copy" --mode=fast --silent stop

  rm -rf "$PGDATA"
  mv "$copy" "$PGDATA"
fi

[ "${REJOIN:-}" = yes ] || exec docker-entrypoint.sh "$@"
