-- The ends of standard error of task ?1, or of all tasks, with those that have
-- the text.

CREATE TEMP TABLE IF NOT EXISTS ends (seq INTEGER PRIMARY KEY, session, time_us,
  task, attempt, same, text, UNIQUE (task, attempt));
DELETE FROM temp.ends;
INSERT INTO temp.ends SELECT * FROM rec.stderr WHERE ?1 IS NULL OR task = ?1
  OR seq IN (SELECT same FROM rec.stderr WHERE task = ?1);
