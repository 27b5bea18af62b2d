-- As 010_whole.sql, of later tables.
CREATE VIEW checked_looks AS SELECT *, TRUE AS whole FROM looks;
