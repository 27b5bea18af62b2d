// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package store

import (
	"context"
	"database/sql/driver"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"slices"
	"strings"
	"sync"

	"modernc.org/sqlite"
)

// Rows that numbers or verdicts depend on have a checksum in the column sum, which triggers write.
// Each such table has a view, checked_ and its name, with one more column, whole: true if the
// columns are as they were written. For the checksums of attempts see sum.go.

// summedTable is a table with checksums of its rows.
type summedTable struct {
	name, columns string
	// replaced: an UPDATE of one of the columns writes all but the key, and mends a damaged row. In other tables a
	// damaged row stays damaged.
	replaced bool
}

// summedTables are the tables of version 10.
func summedTables() []summedTable {
	return []summedTable{
		{name: "suites", columns: "num,hash,name,version,cases"},
		{name: "suite_chunks", columns: "suite,ix,cases"},
		{
			name:    "runs",
			columns: "num,id,created,finished,status,suite_hash,suite_name,requests,usd,assumed_usd,assumed,judges",
		},
		{name: "run_documents", columns: "run_id,about,state,document", replaced: true},
		{name: "label_lines", columns: "about,seq,user_id,line"},
		{name: "gate_entries", columns: "id,content"},
		{name: "gate_verdicts", columns: "id,gate_id,user_id,run_id,baseline,created,verdict,hash,failed"},
		{name: "suite_entries", columns: "id,version,hash"},
		{name: "suite_versions", columns: "suite_id,version,hash,form,tools,cases,content"},
		{name: "catalogue_entries", columns: "id,version,hash,tools,content"},
		{name: "select_runs", columns: "run_id,catalogue_id,catalogue_version,preset,depth,created"},
		{name: "trace_entries", columns: "id,form,lines,parts,items,bytes"},
		{name: "trace_parts", columns: "traces_id,part,content"},
		{name: "schedules", columns: "id,suite_id,catalogue_id,request,gates,baseline,last_good", replaced: true},
		{name: "schedule_runs", columns: "id,schedule_id,due_key,state,run_id,baseline,verdict,outcome"},
	}
}

// summedLooks is the table of version 11.
func summedLooks() []summedTable {
	return []summedTable{{name: "looks", columns: "id,user_id,suite,target,run_id,created,content"}}
}

// summedTunes are the tables of version 12.
func summedTunes() []summedTable {
	return []summedTable{
		{
			name:    "tunes",
			columns: "id,user_id,suite,kind,state,suite_id,experiment_id,created,deleted,holdout_use,content", replaced: true,
		},
		{name: "prompts", columns: "id,user_id,name,version,parent,source,created,content"},
		{name: "tune_presets", columns: "id,user_id,name,created,content"},
	}
}

// summedProfiles is the table of version 13.
func summedProfiles() []summedTable {
	return []summedTable{{name: "profiles", columns: "id,user_id,model,name,source,created,content"}}
}

// wholeSchema adds the checksums to the tables. Only views and triggers call row_sum: other
// programs, which have no such function, can read the tables, copy and check the file.
func wholeSchema(tables []summedTable) string {
	var b strings.Builder
	for _, t := range tables {
		sum := "row_sum(" + t.columns + ")"
		next := fmt.Sprintf("CASE WHEN OLD.sum IS row_sum(OLD.%s) THEN %s ELSE -1 END",
			strings.ReplaceAll(t.columns, ",", ",OLD."), sum)
		if t.replaced {
			next = sum
		}
		fmt.Fprintf(&b, `
ALTER TABLE %[1]s ADD COLUMN sum BIGINT NOT NULL DEFAULT 0;
UPDATE %[1]s SET sum=%[2]s;
CREATE VIEW checked_%[1]s AS SELECT *, sum IS %[2]s AS whole FROM %[1]s;
CREATE TRIGGER %[1]s_added AFTER INSERT ON %[1]s BEGIN UPDATE %[1]s SET sum=%[2]s WHERE rowid=NEW.rowid; END;
CREATE TRIGGER %[1]s_changed AFTER UPDATE OF %[3]s ON %[1]s BEGIN UPDATE %[1]s SET sum=%[4]s WHERE rowid=NEW.rowid; END;
`, t.name, sum, t.columns, next)
	}
	return b.String()
}

// registerSum registers row_sum as a function of SQL.
//
//nolint:gochecknoglobals // a driver takes a function once
var registerSum = sync.OnceFunc(func() {
	sqlite.MustRegisterDeterministicScalarFunction("row_sum", -1,
		func(_ *sqlite.FunctionContext, values []driver.Value) (driver.Value, error) {
			return rowSum(values), nil
		})
})

// rowSum is a checksum of values, of their kinds and their lengths.
func rowSum(values []driver.Value) int64 {
	sum := crc32.New(castagnoli())
	add := func(kind byte, n uint64) {
		_, _ = sum.Write(binary.LittleEndian.AppendUint64([]byte{kind}, n))
	}
	for _, v := range values {
		switch v := v.(type) {
		case int64:
			add('i', uint64(v)) //nolint:gosec // its bits
		case float64:
			add('f', math.Float64bits(v))
		case string:
			add('s', uint64(len(v)))
			_, _ = sum.Write([]byte(v))
		case []byte:
			add('b', uint64(len(v)))
			_, _ = sum.Write(v)
		default:
			add('n', 0)
		}
	}
	return int64(sum.Sum32())
}

// Intact returns an error that wraps ErrDamaged if a row is not whole; what names the row.
func Intact(whole bool, what string) error {
	if whole {
		return nil
	}
	return fmt.Errorf("read %s: %w", what, ErrDamaged)
}

// checkRows counts the damaged rows of each table.
func (db *DB) checkRows(ctx context.Context) (problems []string, err error) {
	for _, t := range slices.Concat(summedTables(), summedLooks(), summedTunes(), summedProfiles()) {
		var n int
		if err := db.read.QueryRowContext(ctx,
			"SELECT count(*) FROM checked_"+t.name+" WHERE NOT whole").Scan(&n); err != nil {
			return nil, db.explain("check", err)
		}
		if n > 0 {
			problems = append(problems, fmt.Sprintf("%s: %d rows have another checksum than was written", t.name, n))
		}
	}
	return problems, nil
}
