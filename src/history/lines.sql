-- The lines of a file to import.

CREATE TEMP TABLE IF NOT EXISTS line (n INTEGER PRIMARY KEY, run, text);
DELETE FROM temp.line;
