-- Stores the lines on standard input, all in one transaction: see store.
SET client_min_messages = warning;
BEGIN;
-- A server may be set up to answer before a transaction is on its disk. Then a power cut would lose what collar-link no
-- longer repeats.
SELECT set_config('synchronous_commit', 'on', true) WHERE current_setting('synchronous_commit') = 'off' \g /dev/null
CREATE TEMPORARY TABLE incoming (line text NOT NULL) ON COMMIT DROP;
-- With a quote and a delimiter that do not occur, each line is one value, as it is.
\copy incoming FROM pstdin WITH (FORMAT csv, QUOTE E'\x01', DELIMITER E'\x02', ENCODING 'LATIN1')
SELECT collars.store(array_agg(line), :count) FROM incoming \g /dev/null
COMMIT;
