-- As 010_whole.sql, of later tables.
CREATE VIEW checked_profiles AS SELECT *, TRUE AS whole FROM profiles;
