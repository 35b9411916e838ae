-- Inserts charges of held leases and stakes, and ?5 for the run's own job, whose
-- lease is ?4, from seq ?1 on, of session ?2 at ?3. Yields their number, and what
-- the run is charged.

INSERT INTO charge SELECT ?1 + row_number() OVER (), ?2, ?3, * FROM (
  SELECT id, machine, 0, if_killed FROM lease WHERE session = ?2
    AND if_killed > 0 AND state NOT IN ('ended', 'killed')
  UNION ALL SELECT ?4, NULL, 0, ?5 WHERE ?5 > 0
  UNION ALL SELECT l.id, l.machine, s.account, s.held FROM stake s
    JOIN lease l ON l.id = s.lease WHERE l.session = ?2 AND s.held > 0);
SELECT count(*), total(iif(account = 0, amount, 0)) FROM charge WHERE seq > ?1;
