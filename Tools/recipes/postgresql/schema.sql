-- The tables and views of the recipe, in the schema `collars`. Running this file again changes nothing.
--
-- A value that is unknown (null or -1 in the lines of collar-link) is null. Times have a time zone and are exact to the
-- millisecond. Distances are metres, angles degrees, speeds metres a second.
\set ON_ERROR_STOP on
SET client_min_messages = warning;
BEGIN;
-- Two set-ups at the same time wait for each other.
SELECT pg_advisory_xact_lock(hashtext('collar-link schema')) \g /dev/null

CREATE EXTENSION IF NOT EXISTS postgis;
CREATE SCHEMA IF NOT EXISTS collars;

-- One row per fix. The id is the same from every station, so a fix that three stations heard is one row: the first that
-- arrives stays, with the signal and the time of reception of that station.
CREATE TABLE IF NOT EXISTS collars.fixes (
    id            uuid PRIMARY KEY,
    collar        text NOT NULL CHECK (collar ~ '^[0-9a-f]{16}$'),
    name          text,                         -- the animal that wore the collar then, where it is known
    log           bigint NOT NULL,
    seq           bigint NOT NULL,
    time          timestamptz NOT NULL,         -- ts_unix_ms: when the fix was made
    received      timestamptz,                  -- rx_unix_ms: when a station received it
    source        text NOT NULL,
    latitude      double precision NOT NULL CHECK (latitude BETWEEN -90 AND 90),
    longitude     double precision NOT NULL CHECK (longitude BETWEEN -180 AND 180),
    alt_m         double precision,             -- above mean sea level
    h_accuracy_m  double precision,
    v_accuracy_m  double precision,
    speed_mps     double precision,
    course_deg    double precision,             -- direction of motion
    heading_deg   double precision,             -- direction of the compass
    battery_pct   double precision,
    rssi_dbm      integer,
    snr_db        double precision,
    position      geography(Point, 4326) NOT NULL
                  GENERATED ALWAYS AS (ST_SetSRID(ST_MakePoint(longitude, latitude), 4326)::geography) STORED
);
CREATE INDEX IF NOT EXISTS fixes_collar_time ON collars.fixes (collar, time DESC, seq DESC);
CREATE INDEX IF NOT EXISTS fixes_name_time ON collars.fixes (name, time DESC, seq DESC) WHERE name IS NOT NULL;
CREATE INDEX IF NOT EXISTS fixes_position ON collars.fixes USING gist (position);

-- Messages of the application in a collar; they arrive with `--events fix,message`.
CREATE TABLE IF NOT EXISTS collars.messages (
    id        uuid PRIMARY KEY,
    collar    text NOT NULL,
    name      text,
    log       bigint NOT NULL,
    seq       bigint NOT NULL,
    time      timestamptz,
    received  timestamptz NOT NULL,
    kind      text NOT NULL,
    code      integer NOT NULL,
    data      bytea NOT NULL,
    reply_to  bigint,
    outcome   text
);
CREATE INDEX IF NOT EXISTS messages_collar_time ON collars.messages (collar, received DESC);

-- Lines that could not be stored, and why. They do not hold back the lines after them.
CREATE TABLE IF NOT EXISTS collars.rejected (
    digest    text PRIMARY KEY,                 -- MD5 of the line
    line      text NOT NULL,                    -- its bytes, each as the character of that number
    reason    text NOT NULL,
    rejected  timestamptz NOT NULL DEFAULT now()
);

-- Where each collar, and each animal, was last. A backlog that comes late is not last: the fix's own time decides.
CREATE OR REPLACE VIEW collars.last_positions AS
    SELECT DISTINCT ON (collar) collar, name, time, latitude, longitude, h_accuracy_m, battery_pct, id, position
    FROM collars.fixes ORDER BY collar, time DESC, seq DESC;
CREATE OR REPLACE VIEW collars.last_positions_of_animals AS
    SELECT DISTINCT ON (name) name, collar, time, latitude, longitude, h_accuracy_m, battery_pct, id, position
    FROM collars.fixes WHERE name IS NOT NULL ORDER BY name, time DESC, seq DESC;

-- The way of each collar on each day (of UTC) as one line. A day with a single fix has no line. A line that crosses the
-- antimeridian is cut there, as RFC 7946, section 3.1.9, says: maps would draw it around the world.
CREATE OR REPLACE VIEW collars.tracks AS
    WITH steps AS (
        SELECT collar, (time AT TIME ZONE 'UTC')::date AS day, time, seq, longitude, latitude,
            lag(longitude) OVER way AS longitude_before, lag(latitude) OVER way AS latitude_before
        FROM collars.fixes
        WINDOW way AS (PARTITION BY collar, (time AT TIME ZONE 'UTC')::date ORDER BY time, seq)
    ), fixes AS (
        -- A step of more than half the way around the world crosses the antimeridian. Each crossing begins a part.
        SELECT *, abs(longitude - longitude_before) > 180 IS TRUE AS crosses,
            count(*) FILTER (WHERE abs(longitude - longitude_before) > 180)
                OVER (PARTITION BY collar, day ORDER BY time, seq ROWS UNBOUNDED PRECEDING) AS part
        FROM steps
    ), crossings AS (
        -- Where a straight line between the two fixes meets the antimeridian.
        SELECT *, latitude_before + (latitude - latitude_before) * coalesce(
            (180 - abs(longitude_before)) / nullif(360 - abs(longitude_before) - abs(longitude), 0), 0) AS latitude_between
        FROM fixes WHERE crosses
    ), vertices AS (
        SELECT collar, day, part, time, seq, 1 AS place, longitude, latitude FROM fixes
        UNION ALL
        SELECT collar, day, part - 1, time, seq, 0, 180 * sign(longitude_before), latitude_between FROM crossings
        UNION ALL
        SELECT collar, day, part, time, seq, 0, 180 * sign(longitude), latitude_between FROM crossings
    ), parts AS (
        SELECT collar, day, part, count(*) FILTER (WHERE place = 1) AS fix_count, min(time) AS first_time, max(time) AS last_time,
            ST_MakeLine(ST_SetSRID(ST_MakePoint(longitude, latitude), 4326) ORDER BY time, seq, place) AS line
        FROM vertices GROUP BY collar, day, part
    ), days AS (
        SELECT collar, day, sum(fix_count)::bigint AS fix_count, min(first_time) AS first_time, max(last_time) AS last_time,
            CASE count(*) WHEN 1 THEN (array_agg(line))[1] ELSE ST_Collect(line ORDER BY part) END AS line
        FROM parts GROUP BY collar, day HAVING sum(fix_count) > 1
    )
    SELECT collar, day, fix_count, first_time, last_time, line, ST_Length(line::geography) AS length_m FROM days;

-- What a batch contains: lines as text, each byte as the character of that number (Latin-1), so that any byte can be read.
-- This function fails for a line that is not UTF-8 or not JSON.
CREATE OR REPLACE FUNCTION collars.parsed(line text) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
    SELECT convert_from(convert_to(line, 'LATIN1'), 'UTF8')::jsonb
$$;

CREATE OR REPLACE FUNCTION collars.time_of(unix_ms bigint) RETURNS timestamptz LANGUAGE sql IMMUTABLE AS $$
    SELECT timestamptz 'epoch' + unix_ms * interval '1 millisecond'
$$;

-- Stores the lines of a batch that are not stored yet. Lines of other types than fix and message are left out.
-- The order by id matters: all sinks lock rows in one order, so they cannot wait for each other in a circle.
CREATE OR REPLACE FUNCTION collars.insert_lines(lines text[]) RETURNS void LANGUAGE sql AS $$
    INSERT INTO collars.fixes (id, collar, name, log, seq, time, received, source, latitude, longitude, alt_m, h_accuracy_m,
        v_accuracy_m, speed_mps, course_deg, heading_deg, battery_pct, rssi_dbm, snr_db)
    SELECT f.id, f.collar, f.name, f.log, f.seq, collars.time_of(f.ts_unix_ms), collars.time_of(f.rx_unix_ms), f.source,
        (f.coordinate->'latitude')::double precision, (f.coordinate->'longitude')::double precision, f.alt_m,
        nullif(f.h_accuracy_m, -1), nullif(f.v_accuracy_m, -1), nullif(f.speed_mps, -1), nullif(f.course_deg, -1),
        f.heading_deg, nullif(f.battery_pct, -1), f.rssi_dbm, f.snr_db
    FROM unnest(lines) AS line, jsonb_to_record(collars.parsed(line)) AS f (
        type text, id uuid, collar text, name text, log bigint, seq bigint, ts_unix_ms bigint, rx_unix_ms bigint,
        source text, coordinate jsonb, alt_m double precision, h_accuracy_m double precision,
        v_accuracy_m double precision, speed_mps double precision, course_deg double precision,
        heading_deg double precision, battery_pct double precision, rssi_dbm integer, snr_db double precision)
    WHERE f.type = 'fix' ORDER BY f.id
    ON CONFLICT (id) DO NOTHING;

    INSERT INTO collars.messages (id, collar, name, log, seq, time, received, kind, code, data, reply_to, outcome)
    SELECT m.id, m.collar, m.name, m.log, m.seq, collars.time_of(m.ts_unix_ms), collars.time_of(m.rx_unix_ms), m.kind,
        m.code, decode(m.data, 'hex'), m.reply_to, m.outcome
    FROM unnest(lines) AS line, jsonb_to_record(collars.parsed(line)) AS m (
        type text, id uuid, collar text, name text, log bigint, seq bigint, ts_unix_ms bigint, rx_unix_ms bigint,
        kind text, code integer, data text, reply_to bigint, outcome text)
    WHERE m.type = 'message' ORDER BY m.id
    ON CONFLICT (id) DO NOTHING;
$$;

-- Stores a batch. If a line cannot be stored because of what it contains, the lines are stored one by one, and the bad
-- ones go to `rejected`: an error for them would come again at each repetition, and hold back everything after them.
-- All other errors (no connection, a full disk) are errors of the batch, which is repeated.
CREATE OR REPLACE FUNCTION collars.store(lines text[], line_count integer) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    one text;
    bad text[] := '{}';
    reasons text[] := '{}';
BEGIN
    -- The writer of the batch may have been killed.
    IF coalesce(cardinality(lines), 0) <> line_count THEN
        RAISE 'a batch of % lines arrived with % lines; nothing is stored', line_count, coalesce(cardinality(lines), 0);
    END IF;
    PERFORM collars.insert_lines(lines);
EXCEPTION WHEN data_exception OR integrity_constraint_violation OR program_limit_exceeded THEN
    FOR one IN SELECT line FROM unnest(lines) AS line ORDER BY substring(line FROM '"id":"([0-9a-f-]{36})"'), line LOOP
        BEGIN
            PERFORM collars.insert_lines(ARRAY[one]);
        EXCEPTION WHEN data_exception OR integrity_constraint_violation OR program_limit_exceeded THEN
            bad := bad || one;
            reasons := reasons || SQLERRM;
        END;
    END LOOP;
    INSERT INTO collars.rejected (digest, line, reason)
        SELECT md5(line), line, reason FROM unnest(bad, reasons) AS each (line, reason) ORDER BY 1
        ON CONFLICT (digest) DO NOTHING;
    RAISE WARNING '% of % lines cannot be stored: %', cardinality(bad), cardinality(lines), reasons[1]
        USING HINT = 'they are in the table collars.rejected; the other lines are stored';
END
$$;

-- Who may do what: GRANT collar_writer TO the user of a sink, collar_reader TO the user of a map.
DO $$
DECLARE
    role text;
BEGIN
    FOREACH role IN ARRAY ARRAY['collar_writer', 'collar_reader'] LOOP
        IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = role) THEN
            EXECUTE format('CREATE ROLE %I NOLOGIN', role);
        END IF;
    END LOOP;
END
$$;
GRANT USAGE ON SCHEMA collars TO collar_writer, collar_reader;
GRANT SELECT ON ALL TABLES IN SCHEMA collars TO collar_writer, collar_reader;
GRANT INSERT ON collars.fixes, collars.messages, collars.rejected TO collar_writer;
COMMIT;
