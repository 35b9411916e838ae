-- The start of each session on the axis, and the machines shared by several
-- sessions: those with the same name and cluster name, with the first one's
-- slots.

CREATE TEMP TABLE IF NOT EXISTS axis (session INTEGER PRIMARY KEY, begin,
  scale, length);
CREATE TEMP TABLE IF NOT EXISTS seat (session, machine, first, slots,
  place, PRIMARY KEY (session, machine)) WITHOUT ROWID;
DELETE FROM temp.axis; DELETE FROM temp.seat;
INSERT INTO temp.axis SELECT id, sum(length) OVER (ORDER BY id) - length,
  scale, length FROM (SELECT id, iif(time_scale > 0, time_scale, 1) AS
   scale, max(0, coalesce(ended_us, 0), coalesce(last_us,
    (SELECT time_us FROM now), 0)) AS length FROM session);
INSERT OR IGNORE INTO temp.seat SELECT m.session, m.id,
  min(m.session << 32 | m.id) OVER same,
  first_value(iif(slots BETWEEN 1 AND 4294967294, slots, 1))
   OVER (same ORDER BY m.session, m.id), 0
  FROM machine m JOIN cluster c ON c.session = m.session
   AND c.id = m.cluster WINDOW same AS (PARTITION BY c.name, m.name);
UPDATE temp.seat SET place = p.place FROM (SELECT session, machine,
  dense_rank() OVER (ORDER BY first) - 1 AS place FROM temp.seat) p
  WHERE p.session = seat.session AND p.machine = seat.machine;
