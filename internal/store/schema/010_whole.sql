-- Whether a row is what was written: the columns that whole.go makes. This is for sqlc alone.
ALTER TABLE run_documents ADD COLUMN whole BOOLEAN NOT NULL;
ALTER TABLE label_lines ADD COLUMN whole BOOLEAN NOT NULL;
ALTER TABLE gate_entries ADD COLUMN whole BOOLEAN NOT NULL;
ALTER TABLE gate_verdicts ADD COLUMN whole BOOLEAN NOT NULL;
ALTER TABLE suite_entries ADD COLUMN whole BOOLEAN NOT NULL;
ALTER TABLE suite_versions ADD COLUMN whole BOOLEAN NOT NULL;
ALTER TABLE catalogue_entries ADD COLUMN whole BOOLEAN NOT NULL;
ALTER TABLE select_runs ADD COLUMN whole BOOLEAN NOT NULL;
ALTER TABLE trace_entries ADD COLUMN whole BOOLEAN NOT NULL;
ALTER TABLE trace_parts ADD COLUMN whole BOOLEAN NOT NULL;
ALTER TABLE schedules ADD COLUMN whole BOOLEAN NOT NULL;
ALTER TABLE schedule_runs ADD COLUMN whole BOOLEAN NOT NULL;
