-- As 010_whole.sql, of later tables.
CREATE VIEW checked_tunes AS SELECT *, TRUE AS whole FROM tunes;
CREATE VIEW checked_prompts AS SELECT *, TRUE AS whole FROM prompts;
CREATE VIEW checked_tune_presets AS SELECT *, TRUE AS whole FROM tune_presets;
