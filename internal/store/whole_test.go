// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package store

import (
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	query "github.com/callvet/callvet/internal/store/rows"
)

// everyTable is the path of a store with two rows in each table that has checksums.
func everyTable(t *testing.T) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "x.db")
	db, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, table := range summedTables() {
		addRows(t, db, table.name)
	}
	if _, err := db.write.ExecContext(t.Context(), "UPDATE label_lines SET about=?", labelled); err != nil {
		t.Fatal(err)
	}
	return path
}

// addRows adds two rows to a table.
func addRows(t *testing.T, db *DB, table string) {
	t.Helper()
	var names, values []string
	rows, err := db.read.QueryContext(t.Context(),
		"SELECT name, type FROM pragma_table_info(?) WHERE name<>'sum'", table)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for i := 0; rows.Next(); i++ {
		var name, kind string
		if err := rows.Scan(&name, &kind); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
		switch kind {
		case "TEXT":
			values = append(values, fmt.Sprintf("'text %d of row '||n", i))
		case "BLOB", "BYTEA":
			values = append(values, fmt.Sprintf("CAST('bytes %d of row '||n AS BLOB)", i))
		case "BOOLEAN":
			values = append(values, "n=1")
		default:
			values = append(values, fmt.Sprintf("%d+n", 100*i))
		}
	}
	q := fmt.Sprintf("INSERT INTO %s(%s) SELECT %s FROM (SELECT 1 n UNION ALL SELECT 2)", table,
		strings.Join(names, ","), strings.Join(values, ","))
	_, err = db.write.ExecContext(t.Context(), q)
	if err := errors.Join(rows.Err(), err); err != nil {
		t.Fatalf("%s: %v", q, err)
	}
}

// wholeRows returns the whole rows of a table in words, up to one that cannot be read.
func wholeRows(t *testing.T, db *sql.DB, table summedTable) (out []string) {
	t.Helper()
	columns := strings.Split(table.columns, ",")
	rows, err := db.QueryContext(t.Context(), "SELECT whole,"+table.columns+" FROM checked_"+table.name)
	if err != nil {
		return nil
	}
	defer rows.Close()
	for rows.Next() {
		var whole bool
		values := make([]any, len(columns))
		into := []any{&whole}
		for i := range values {
			into = append(into, &values[i])
		}
		if rows.Scan(into...) == nil && whole {
			out = append(out, fmt.Sprintf("%v", values))
		}
	}
	if rows.Err() != nil {
		return nil
	}
	return out
}

// readRows returns the whole rows of each table in words; a table that cannot be read has none.
func readRows(t *testing.T, path string) map[string][]string {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?mode=ro&immutable=1")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	out := map[string][]string{}
	for _, table := range summedTables() {
		out[table.name] = wholeRows(t, db, table)
	}
	q := query.New(db)
	lines, err := q.LabelLines(t.Context(), labelled)
	stored, err2 := q.LabelsStored(t.Context(), labelled)
	damaged := slices.ContainsFunc(lines, func(l query.LabelLinesRow) bool { return !l.Whole })
	if errors.Join(err, err2) == nil && !damaged && int(stored) == len(lines) {
		out[labels] = []string{} // what a report would count
		for _, l := range lines {
			out[labels] = append(out[labels], string(l.Line))
		}
	}
	return out
}

// What two labels are about, and what they are called among the rows.
const (
	labelled = "run:both"
	labels   = "labels"
)

// TestDamagedRow flips bits of the file, one at a time. A whole row has the written values. A
// damaged row stays damaged after a change, unless the change writes all of it.
func TestDamagedRow(t *testing.T) {
	t.Parallel()
	whole, err := os.ReadFile(everyTable(t))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "damaged.db")
	read := func() map[string][]string {
		t.Helper()
		if err := os.WriteFile(path, whole, 0o600); err != nil {
			t.Fatal(err)
		}
		return readRows(t, path)
	}
	want := read()
	for _, table := range summedTables() {
		if len(want[table.name]) != 2 {
			t.Fatalf("%s has the rows %q", table.name, want[table.name])
		}
	}
	var used []int
	for i, b := range whole {
		if b != 0 {
			used = append(used, i)
		}
	}
	rnd := rand.New(rand.NewPCG(3, 4)) //nolint:gosec // the same bits each time
	found := map[string]bool{}
	for range 400 {
		at, bit := used[rnd.IntN(len(used))], byte(1)<<rnd.IntN(8)
		whole[at] ^= bit
		got := read()
		whole[at] ^= bit
		for name, rows := range want {
			if len(got[name]) < len(rows) {
				found[name] = true
				if name == labels && got[name] != nil {
					t.Errorf("bit %d of byte %d is damaged, and a label is lost", bit, at)
				}
			}
			for _, row := range got[name] {
				if !slices.Contains(rows, row) {
					t.Errorf("bit %d of byte %d is damaged, and a row of %s is whole: %s", bit, at, name, row)
				}
			}
		}
	}
	for name := range want {
		if !found[name] {
			t.Errorf("no row of %s was found damaged", name)
		}
	}
}

// TestDamageStays: a change of a damaged row does not make it whole, unless it writes all of it.
func TestDamageStays(t *testing.T) {
	t.Parallel()
	path := everyTable(t)
	db, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, table := range summedTables() {
		column := table.columns[strings.LastIndexByte(table.columns, ',')+1:]
		for _, damaged := range []bool{false, true} {
			q := fmt.Sprintf("UPDATE %[1]s SET %[2]s=%[2]s", table.name, column)
			if damaged {
				q = fmt.Sprintf("UPDATE %s SET sum=sum+1; %s", table.name, q)
			}
			if _, err := db.write.ExecContext(t.Context(), q); err != nil {
				t.Fatal(err)
			}
			var n int
			if err := db.read.QueryRowContext(t.Context(),
				"SELECT count(*) FROM checked_"+table.name+" WHERE whole").Scan(&n); err != nil {
				t.Fatal(err)
			}
			if want := damaged && !table.replaced; (n == 0) != want {
				t.Errorf("%s: %d rows are whole, damaged before: %t", table.name, n, damaged)
			}
		}
	}
	problems, err := db.checkRows(t.Context())
	if err != nil || len(problems) != len(summedTables())-2 {
		t.Errorf("%q %v", problems, err)
	}
}

// TestChecksumsOfOldRows: rows of an older file are whole once it is brought up to date.
func TestChecksumsOfOldRows(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "old.db")
	steps := migrations()
	old := len(steps) - 1
	for _, q := range append(steps[:old:old],
		fmt.Sprintf("PRAGMA user_version=%d; PRAGMA application_id=%d", old, applicationID),
		"INSERT INTO label_lines(about,seq,user_id,created,line) VALUES('run:a',1,'ana',5,CAST('{}' AS BLOB))",
		"INSERT INTO gate_entries(id,user_id,name,shared,created,updated,content) VALUES('g','ana','n',TRUE,1,1,CAST('gates: []' AS BLOB))") {
		execOn(t, path, q)
	}
	if _, err := Open(t.Context(), path, Options{ReadOnly: true}); err == nil {
		t.Error("an older file is read as it is")
	}
	db, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	lines, err := db.Rows().LabelLines(t.Context(), "run:a")
	if err != nil || len(lines) != 1 || !lines[0].Whole {
		t.Errorf("%+v %v", lines, err)
	}
	if problems, err := db.Check(t.Context()); err != nil || len(problems) > 0 {
		t.Errorf("%q %v", problems, err)
	}
}

// TestReadByOthers: other programs have no row_sum, and read, check and copy the tables. They
// cannot where a column or an index calls it.
func TestReadByOthers(t *testing.T) {
	t.Parallel()
	db, err := Open(t.Context(), everyTable(t), Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	list := func(q string) (out []string) {
		t.Helper()
		rows, err := db.read.QueryContext(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		for rows.Next() {
			var s string
			if err := rows.Scan(&s); err != nil {
				t.Fatal(err)
			}
			out = append(out, s)
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		return out
	}
	if calls := list(
		"SELECT name FROM sqlite_schema WHERE type NOT IN ('view','trigger') AND sql LIKE '%row_sum%'"); len(
		calls) > 0 {
		t.Errorf("row_sum is called by %q", calls)
	}
	made := list(
		"SELECT s.name || '.' || c.name FROM sqlite_schema s, pragma_table_xinfo(s.name) c WHERE s.type='table' AND c.hidden<>0")
	if len(made) > 0 {
		t.Errorf("columns are generated: %q", made)
	}
	if views := list("SELECT name FROM sqlite_schema WHERE type='view' AND sql LIKE '%row_sum%'"); len(views) != len(
		summedTables())+len(summedLooks())+len(summedTunes())+len(summedProfiles()) {
		t.Errorf("the views that call row_sum are %q", views)
	}
}
