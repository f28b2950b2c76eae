-- CreateTable
CREATE TABLE "audit_events" (
    "n" BIGINT NOT NULL,
    "format" SMALLINT NOT NULL,
    "at" TIMESTAMPTZ(6) NOT NULL,
    "operation" TEXT NOT NULL,
    "result" TEXT NOT NULL,
    "actor" TEXT NOT NULL,
    "user_id" TEXT,
    "key_id" TEXT,
    "token_id" TEXT,
    "name" TEXT,
    "address" TEXT,
    "request_id" TEXT,
    "target" TEXT,
    "target_id" TEXT,
    "before" TEXT,
    "after" TEXT,
    "reason" TEXT,
    "count" INTEGER NOT NULL DEFAULT 1,
    "hash" BYTEA NOT NULL,

    CONSTRAINT "audit_events_pkey" PRIMARY KEY ("n")
);

-- CreateTable
CREATE TABLE "audit_head" (
    "id" INTEGER NOT NULL,
    "n" BIGINT NOT NULL,
    "hash" BYTEA NOT NULL,
    "cut_n" BIGINT NOT NULL DEFAULT 0,
    "cut_hash" BYTEA,

    CONSTRAINT "audit_head_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "audit_allowances" (
    "subject" TEXT NOT NULL,
    "start" TIMESTAMPTZ(3) NOT NULL,
    "seen" INTEGER NOT NULL,
    "omitted" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "audit_allowances_pkey" PRIMARY KEY ("subject","start")
);

-- CreateIndex
CREATE INDEX "audit_events_target_target_id_n_idx" ON "audit_events"("target", "target_id", "n");

-- CreateIndex
CREATE INDEX "audit_events_user_id_n_idx" ON "audit_events"("user_id", "n");

-- CreateIndex
CREATE INDEX "audit_events_at_idx" ON "audit_events"("at");

-- CreateIndex
CREATE INDEX "audit_allowances_start_idx" ON "audit_allowances"("start");

-- A value within the text that is hashed: its length in bytes, so that two rows never have the same text, or a dash for NULL.
CREATE FUNCTION audit_field(value text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN value IS NULL THEN '-' ELSE octet_length(convert_to(value, 'UTF8'))::text || ':' || value END
$$;

-- The hash of an event, of format 1, which follows the event with the hash `previous`. core/audit/event-hash.ts computes the same.
CREATE FUNCTION audit_hash(previous bytea, event audit_events) RETURNS bytea LANGUAGE sql STABLE AS $$
  SELECT sha256(previous || convert_to(
    audit_field(event.format::text) || audit_field(event.n::text)
    || audit_field((extract(epoch FROM event.at) * 1000000)::bigint::text)
    || audit_field(event.operation) || audit_field(event.result)
    || audit_field(event.actor) || audit_field(event.user_id) || audit_field(event.key_id)
    || audit_field(event.token_id)
    || audit_field(event.name) || audit_field(event.address) || audit_field(event.request_id)
    || audit_field(event.target) || audit_field(event.target_id)
    || audit_field(event.before) || audit_field(event.after)
    || audit_field(event.reason) || audit_field(event.count::text), 'UTF8'))
$$;

-- Adds an event to the chain; returns its number. Whoever adds one holds the row of the head until its transaction ends, so
-- the chain has one order. A volatile function sees what was committed while it waited for the lock. The row itself is written
-- once, at the end of the transaction: with a version for each event, a transaction of many would take the square of its time.
CREATE FUNCTION audit_append(event jsonb) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  head audit_head;
  own audit_events;
  added audit_events;
BEGIN
  INSERT INTO audit_head (id, n, hash) VALUES (1, 0, decode(repeat('00', 32), 'hex')) ON CONFLICT DO NOTHING;
  SELECT * INTO head FROM audit_head WHERE id = 1 FOR UPDATE;
  -- The last event that this transaction has added. If the end of the chain was cut off, the head goes on where it was.
  SELECT * INTO own FROM audit_events WHERE n = (SELECT max(n) FROM audit_events) AND n > head.n;
  added.format := 1;
  added.n := coalesce(own.n, head.n) + 1;
  added.at := clock_timestamp();
  added.operation := event ->> 'operation';
  added.result := coalesce(event ->> 'result', 'done');
  added.actor := event ->> 'actor';
  added.user_id := event ->> 'userId';
  added.key_id := event ->> 'keyId';
  added.token_id := event ->> 'tokenId';
  added.name := event ->> 'name';
  added.address := event ->> 'address';
  added.request_id := event ->> 'requestId';
  added.target := event ->> 'target';
  added.target_id := event ->> 'targetId';
  added.before := event ->> 'before';
  added.after := event ->> 'after';
  added.reason := event ->> 'reason';
  added.count := coalesce((event ->> 'count')::int, 1);
  added.hash := audit_hash(coalesce(own.hash, head.hash), added);
  INSERT INTO audit_events SELECT added.*;
  RETURN added.n;
END
$$;

-- Moves the head to the last event, at the end of the transaction that added it.
CREATE FUNCTION audit_move_head() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  -- The greatest is read from the index, whatever the planner knows of the table.
  IF NEW.n = (SELECT max(n) FROM audit_events) THEN
    UPDATE audit_head SET n = NEW.n, hash = NEW.hash WHERE id = 1 AND n < NEW.n;
  END IF;
  RETURN NULL;
END
$$;

CREATE CONSTRAINT TRIGGER audit_events_head AFTER INSERT ON audit_events DEFERRABLE INITIALLY DEFERRED
FOR EACH ROW EXECUTE FUNCTION audit_move_head();

-- Adds an event that strangers can cause, unless one of its subjects has had `seen_max` of them in this hour; returns NULL then.
CREATE FUNCTION audit_append_bounded(event jsonb, subjects text[], seen_max int) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  about text;
  times int;
  is_exceeded boolean := false;
BEGIN
  FOR about IN SELECT DISTINCT unnest(subjects) AS s ORDER BY s LOOP
    INSERT INTO audit_allowances AS a (subject, start, seen)
    VALUES (about, date_trunc('hour', clock_timestamp(), 'UTC'), 1)
    ON CONFLICT (subject, start) DO UPDATE
      SET seen = a.seen + 1, omitted = a.omitted + (a.seen >= seen_max)::int
    RETURNING seen INTO times;
    is_exceeded := is_exceeded OR times > seen_max;
  END LOOP;
  RETURN CASE WHEN is_exceeded THEN NULL ELSE audit_append(event) END;
END
$$;

-- Records the change of a row as an event, at the end of its transaction: so a change and its event are committed together or
-- not at all, and nobody holds the head while other statements run. The transaction says in `trunkline.doing` who does what;
-- without it the event has the actor `database`. The arguments are what the row is called and the columns that are shown.
CREATE FUNCTION audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  doing jsonb := coalesce(nullif(current_setting('trunkline.doing', true), ''), '{}')::jsonb;
  shown text[] := TG_ARGV[1:];
  was jsonb;
  became jsonb;
BEGIN
  -- Rows of an export arrive with their events.
  IF doing ->> 'actor' = 'import' THEN RETURN NULL; END IF;
  IF TG_OP <> 'INSERT' THEN
    SELECT jsonb_object_agg(key, value) INTO was FROM jsonb_each(to_jsonb(OLD)) WHERE key = ANY (shown);
  END IF;
  IF TG_OP <> 'DELETE' THEN
    SELECT jsonb_object_agg(key, value) INTO became FROM jsonb_each(to_jsonb(NEW)) WHERE key = ANY (shown);
  END IF;
  PERFORM audit_append(
    jsonb_build_object('operation', TG_ARGV[0] || '.' || lower(TG_OP))
    || CASE WHEN doing ? 'actor' THEN doing
      ELSE jsonb_build_object('actor', 'database', 'name', session_user::text) END
    || jsonb_build_object(
      'target', TG_ARGV[0],
      'targetId', CASE WHEN TG_OP = 'DELETE' THEN to_jsonb(OLD) ELSE to_jsonb(NEW) END ->> 'id',
      'before', was::text, 'after', became::text));
  RETURN NULL;
END
$$;

-- Adds one event for all those of past hours that have none of their own; returns how many hours it was asked about. A subject is
-- the operation, the result, what it is about and its id, such as `login/failed/address/192.0.2.7`.
CREATE FUNCTION audit_omitted(rows_max int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
  past audit_allowances;
  words text[];
  removed int := 0;
BEGIN
  FOR past IN
    DELETE FROM audit_allowances WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM audit_allowances WHERE start < date_trunc('hour', clock_timestamp(), 'UTC')
      ORDER BY start LIMIT rows_max FOR UPDATE SKIP LOCKED))
    RETURNING *
  LOOP
    removed := removed + 1;
    IF past.omitted > 0 THEN
      words := string_to_array(past.subject, '/');
      PERFORM audit_append(jsonb_build_object(
        'operation', words[1], 'result', words[2], 'actor', 'gateway', 'target', words[3],
        'targetId', array_to_string(words[4:], '/'), 'count', past.omitted));
    END IF;
  END LOOP;
  RETURN removed;
END
$$;

-- Cuts the chain before the day of `until`, and deletes at most `rows_max` of the events that were cut off; returns how many. An
-- event signs the cut off, with the number and the hash of the last event before it.
CREATE FUNCTION audit_cut(until timestamptz, rows_max int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
  last_one audit_events;
  deleted int;
BEGIN
  SELECT * INTO last_one FROM audit_events
  WHERE at < date_trunc('day', until, 'UTC') ORDER BY at DESC, n DESC LIMIT 1;
  IF last_one.n > (SELECT cut_n FROM audit_head WHERE id = 1) THEN
    PERFORM audit_append(jsonb_build_object(
      'operation', 'audit.cut', 'actor', 'gateway', 'target', 'audit_event', 'targetId', last_one.n,
      'after', jsonb_build_object('hash', encode(last_one.hash, 'hex'))::text));
    UPDATE audit_head SET cut_n = last_one.n, cut_hash = last_one.hash WHERE id = 1;
  END IF;
  DELETE FROM audit_events WHERE n IN (
    SELECT n FROM audit_events WHERE n <= (SELECT cut_n FROM audit_head WHERE id = 1) ORDER BY n LIMIT rows_max);
  GET DIAGNOSTICS deleted = ROW_COUNT;
  RETURN deleted;
END
$$;

-- Refuses every change of the events but the deletion of what was cut off.
CREATE FUNCTION audit_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN
    IF OLD.n <= (SELECT cut_n FROM audit_head WHERE id = 1) THEN RETURN OLD; END IF;
  END IF;
  RAISE EXCEPTION 'events of the audit log cannot be changed' USING ERRCODE = 'insufficient_privilege';
END
$$;

CREATE TRIGGER audit_events_unchanged BEFORE UPDATE OR DELETE ON audit_events
FOR EACH ROW EXECUTE FUNCTION audit_refuse_change();

CREATE TRIGGER audit_events_not_truncated BEFORE TRUNCATE ON audit_events
FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();
