-- Whether a row is what was written: the views that whole.go makes. This is for sqlc alone.
CREATE VIEW checked_run_documents AS SELECT *, TRUE AS whole FROM run_documents;
CREATE VIEW checked_label_lines AS SELECT *, TRUE AS whole FROM label_lines;
CREATE VIEW checked_gate_entries AS SELECT *, TRUE AS whole FROM gate_entries;
CREATE VIEW checked_gate_verdicts AS SELECT *, TRUE AS whole FROM gate_verdicts;
CREATE VIEW checked_suite_entries AS SELECT *, TRUE AS whole FROM suite_entries;
CREATE VIEW checked_suite_versions AS SELECT *, TRUE AS whole FROM suite_versions;
CREATE VIEW checked_catalogue_entries AS SELECT *, TRUE AS whole FROM catalogue_entries;
CREATE VIEW checked_select_runs AS SELECT *, TRUE AS whole FROM select_runs;
CREATE VIEW checked_trace_entries AS SELECT *, TRUE AS whole FROM trace_entries;
CREATE VIEW checked_trace_parts AS SELECT *, TRUE AS whole FROM trace_parts;
CREATE VIEW checked_schedules AS SELECT *, TRUE AS whole FROM schedules;
CREATE VIEW checked_schedule_runs AS SELECT *, TRUE AS whole FROM schedule_runs;
