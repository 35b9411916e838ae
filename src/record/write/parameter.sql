-- Adds the name ?1 unless it is there. A name that the view already has as a
-- column gets the prefix "p_".

INSERT OR IGNORE INTO parameter (name, place) SELECT ?1, CASE WHEN EXISTS
    (SELECT 1 FROM pragma_table_info('tasks') WHERE lower(name) = lower(?1))
    THEN 'p_' || ?1 ELSE ?1 END
  WHERE NOT EXISTS (SELECT 1 FROM parameter WHERE name = ?1);
