-- The first line of temp.line that is not of an export.

SELECT n FROM temp.line WHERE NOT coalesce(
    CAST(json_extract(text, '$.tasks') AS INTEGER) >= 1
    AND CAST(json_extract(text, '$.sum_s') AS REAL) BETWEEN 1e-300 AND 1e300
    AND json_extract(text, '$.kind') != ''
    AND json_extract(text, '$.cluster') != '', 0) ORDER BY n LIMIT 1;
