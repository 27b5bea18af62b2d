// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"math"
	"strings"

	"github.com/callvet/callvet"
)

// Order of a stream of cells.
type Order int

// ByTarget streams target after target, each by case and repeat; ByCase streams
// case after case, each by target and repeat.
const (
	ByTarget Order = iota
	ByCase
)

// MostPlaces is how many cells a Filter may name, because the parameters of a statement are
// limited.
const MostPlaces = 10_000

// Filter chooses cells of a run. The zero value means all of them, by target,
// without exchanges.
type Filter struct {
	Order    Order
	Verdicts []callvet.Verdict // nil: any
	CaseID   string            // "": any
	Target   *int              // nil: any
	At       []Place           // the only cells, by case, MostPlaces at most; nil: any
	From     *Place            // where the order by case begins; nil: at the first cell
	// Exchanges loads the raw requests and responses too, which are most of the bytes.
	Exchanges bool
}

// number is a column that should hold a number: a database can hold anything in it.
type number struct {
	f     float64
	known bool
}

// Scan reads a value; a value that is not a number is unknown.
func (n *number) Scan(v any) error {
	*n = number{}
	switch v := v.(type) {
	case int64:
		n.f, n.known = float64(v), true
	case float64:
		n.f, n.known = v, !math.IsNaN(v) && !math.IsInf(v, 0)
	}
	return nil
}

// whole returns the number; -1 if it is unknown or not a count.
func (n *number) whole() int {
	if !n.known || n.f < 0 || n.f > math.MaxInt32 || n.f != math.Trunc(n.f) {
		return -1
	}
	return int(n.f)
}

// counted returns a count as a number.
func counted(n int) number { return number{float64(n), true} }

// value returns the stored form of the number: nil if it is unknown.
func (n *number) value() any {
	if !n.known {
		return nil
	}
	return n.f
}

func (n *number) pointer() *float64 {
	if !n.known {
		return nil
	}
	f := n.f
	return &f
}

// place is the place of a cell: case and target, -1 if unreadable, and repeat.
type place [3]number

func (p *place) of(c *callvet.Cell) {
	c.Case, c.Target, c.Repeat = p[0].whole(), p[1].whole(), max(p[2].whole(), 0)
}

// Place is the position of a cell in a run.
type Place struct{ Case, Target, Repeat int }

// Cells streams the cells of a run. It needs memory for one cell; the receiver may keep each
// yielded cell. After an error the stream ends.
func (db *DB) Cells(ctx context.Context, runID string, f Filter) iter.Seq2[*callvet.Cell, error] {
	return func(yield func(*callvet.Cell, error) bool) {
		num, targets, err := db.targets(ctx, runID, f)
		if err != nil {
			yield(nil, err)
			return
		}
		for _, t := range targets {
			if !db.stream(ctx, num, t, f, yield) {
				return
			}
		}
	}
}

// targets lists the targets to read one after the other; -1 means all at once.
func (db *DB) targets(ctx context.Context, runID string, f Filter) (num int64, targets []int, err error) {
	err = db.read.QueryRowContext(ctx, "SELECT num FROM runs WHERE id=?", runID).Scan(&num)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil, fmt.Errorf("run %s: %w", runID, callvet.ErrNotFound)
	}
	if err != nil {
		return 0, nil, db.explain("read attempts", err)
	}
	switch {
	case f.At != nil && len(f.At) == 0:
		return num, nil, nil
	case f.At != nil:
		return num, []int{-1}, nil
	case f.Target != nil:
		return num, []int{*f.Target}, nil
	case f.Order == ByCase:
		return num, []int{-1}, nil
	}
	rows, err := db.read.QueryContext(ctx,
		"SELECT DISTINCT target_ix FROM cells INDEXED BY cells_key WHERE run=? ORDER BY 1", num)
	if err != nil {
		return 0, nil, db.explain("read attempts", err)
	}
	defer rows.Close()
	for rows.Next() {
		var t number
		if err := rows.Scan(&t); err != nil {
			return 0, nil, db.explain("read attempts", err)
		}
		if n := t.whole(); n >= 0 {
			targets = append(targets, n)
		}
	}
	return num, targets, db.explain("read attempts", rows.Err())
}

func (f Filter) query(num int64, target int) (string, []any) {
	var q strings.Builder
	q.WriteString("SELECT " + columnNames + ",result,trace")
	if f.Exchanges {
		q.WriteString(",exchanges")
	} else {
		q.WriteString(",NULL")
	}
	q.WriteString(" FROM ")
	var args []any
	if f.At != nil { // start from the places and look up their cells; otherwise the whole run would be read
		q.WriteString("(VALUES " + strings.Repeat(",(?,?,?)", len(f.At))[1:] + ") CROSS JOIN ")
		for _, p := range f.At {
			args = append(args, p.Case, p.Target, p.Repeat)
		}
	}
	q.WriteString("cells WHERE run=?")
	args = append(args, num)
	if target >= 0 {
		q.WriteString(" AND target_ix=?")
		args = append(args, target)
	}
	if f.At != nil {
		q.WriteString(" AND case_ix=column1 AND target_ix=column2 AND repeat=column3")
	}
	if f.From != nil {
		q.WriteString(" AND (case_ix,target_ix,repeat)>=(?,?,?)")
		args = append(args, f.From.Case, f.From.Target, f.From.Repeat)
	}
	if f.CaseID != "" {
		q.WriteString(" AND case_id=?")
		args = append(args, f.CaseID)
	}
	if f.Verdicts != nil {
		// An unknown verdict is damage, and the cell is lost.
		q.WriteString(" AND (verdict IN (" + strings.Repeat(",?",
			len(f.Verdicts))[1:] + ") OR verdict NOT IN ('pass','fail','error','not_run'))")
		for _, v := range f.Verdicts {
			args = append(args, string(v))
		}
	}
	q.WriteString(" ORDER BY case_ix,target_ix,repeat")
	return q.String(), args
}

func (db *DB) stream(ctx context.Context, num int64, target int, f Filter, yield func(*callvet.Cell, error) bool) bool {
	q, args := f.query(num, target)
	rows, err := db.read.QueryContext(ctx, q, args...)
	if err != nil {
		return yield(nil, db.explain("read attempts", err)) && false
	}
	defer rows.Close()
	same := words{}
	var from stored
	var result, trace, exchanges sql.RawBytes
	fields := append(from.fields(), &result, &trace, &exchanges)
	for rows.Next() {
		c := &callvet.Cell{}
		if err := rows.Scan(fields...); err != nil {
			return yield(nil, db.explain("read attempts", err)) && false
		}
		from.result, from.trace, from.exchanges = result, trace, exchanges
		decode(c, &from, same)
		if !yield(c, nil) {
			return false
		}
	}
	if err := rows.Err(); err != nil {
		return yield(nil, db.explain("read attempts", err)) && false
	}
	return true
}

// CellsAfter returns up to most cells of a run, in the order of becoming durable. after is the
// last of an earlier call; 0: from the first. A repeated cell keeps its place.
func (db *DB) CellsAfter(ctx context.Context, runID string, after int64,
	most int,
) (cells []*callvet.Cell, last int64, err error) {
	// The first ones are found by the run: with the order of all runs' cells the whole table would be read.
	which := "id>?2 AND +run=(SELECT num FROM runs WHERE id=?1)"
	if after == 0 {
		which = "id IN (SELECT id FROM cells INDEXED BY cells_key WHERE run=(SELECT num FROM runs WHERE id=?1) AND id>?2 ORDER BY id LIMIT ?3)"
	}
	rows, err := db.read.QueryContext(ctx,
		"SELECT "+columnNames+",result,trace,id FROM cells WHERE "+which+" ORDER BY id LIMIT ?3", runID, after, most)
	if err != nil {
		return nil, after, db.explain("read attempts", err)
	}
	defer rows.Close()
	last = after
	same := words{}
	var from stored
	var result, trace sql.RawBytes
	fields := append(from.fields(), &result, &trace, &last)
	for rows.Next() {
		c := &callvet.Cell{}
		if err := rows.Scan(fields...); err != nil {
			return nil, after, db.explain("read attempts", err)
		}
		from.result, from.trace = result, trace
		decode(c, &from, same)
		cells = append(cells, c)
	}
	return cells, last, db.explain("read attempts", rows.Err())
}

// DoneCells streams the stored cells of a run without reading the traces. It sets Case, Target and
// Repeat. Of trace and result it sets only CaseID, Outcome, Attempts, Cached, Usage.Known,
// Usage.CostUSD, Verdict, Class and the overall score. NotEvaluated is 1 if there are any such
// assertions.
func (db *DB) DoneCells(ctx context.Context, runID string) iter.Seq2[*callvet.Cell, error] {
	return db.DoneCellsIn(ctx, runID, 0, math.MaxInt)
}

// DoneCellsIn is DoneCells for the cases from one position in the suite to before another.
func (db *DB) DoneCellsIn(ctx context.Context, runID string, from, to int) iter.Seq2[*callvet.Cell, error] {
	return func(yield func(*callvet.Cell, error) bool) {
		rows, err := db.read.QueryContext(ctx,
			`SELECT `+columnNames+
				` FROM cells WHERE run=(SELECT num FROM runs WHERE id=?) AND case_ix>=? AND case_ix<? ORDER BY case_ix,target_ix,repeat`, runID, from, to)
		if err != nil {
			yield(nil, db.explain("read attempts", err))
			return
		}
		defer rows.Close()
		var from columns
		fields := from.fields()
		for rows.Next() {
			if err := rows.Scan(fields...); err != nil {
				yield(nil, db.explain("read attempts", err))
				return
			}
			if !yield(from.cell(), nil) {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield(nil, db.explain("read attempts", err))
		}
	}
}

// cell makes a cell from the columns. A damaged one is lost.
func (c *columns) cell() *callvet.Cell {
	out := &callvet.Cell{}
	c.at.of(out)
	if err := c.check(); err != nil {
		out.Lost(string(c.caseID), err)
		return out
	}
	t, r, flag := &out.Trace, &out.Result, c.flag()
	t.CaseID, t.Outcome, t.Repeat, t.Attempts = string(c.caseID), callvet.Outcome(c.outcome), out.Repeat,
		max(c.requests.whole(), 0)
	t.Cached, t.Usage.Known, t.Usage.CostUSD = flag&flagCached != 0, flag&flagUsageKnown != 0, c.cost.pointer()
	r.Verdict, r.Class = callvet.Verdict(c.verdict), callvet.ClassOf(string(c.class))
	if flag&flagNotEvaluated != 0 {
		r.NotEvaluated = 1
	}
	if c.overall.known {
		r.Scores = []callvet.Score{{Name: "overall", Value: c.overall.f, Scored: true}}
	}
	return out
}

// Misplaced is a stored attempt with a case or a target that its run does not have.
type Misplaced struct{ CaseID, Case, Target string }

// Misplaced counts the attempts of a run that are not at one of its cases, or not of one of its
// targets. It returns up to most of the first ones.
func (db *DB) Misplaced(ctx context.Context, runID string, cases, targets,
	most int,
) (n int64, first []Misplaced, err error) {
	const which = ` FROM cells WHERE run=(SELECT num FROM runs WHERE id=?)
		AND NOT (typeof(case_ix)='integer' AND case_ix>=0 AND case_ix<? AND typeof(target_ix)='integer' AND target_ix>=0 AND target_ix<?)`
	if err := db.read.QueryRowContext(ctx, "SELECT count(*)"+which, runID, cases, targets).Scan(&n); err != nil ||
		n == 0 {
		return 0, nil, db.explain("read attempts", err)
	}
	rows, err := db.read.QueryContext(ctx,
		"SELECT case_id, coalesce(CAST(case_ix AS TEXT),''), coalesce(CAST(target_ix AS TEXT),'')"+which+
			" ORDER BY case_ix,target_ix,repeat LIMIT ?", runID, cases, targets, most)
	if err != nil {
		return 0, nil, db.explain("read attempts", err)
	}
	defer rows.Close()
	for rows.Next() {
		var m Misplaced
		if err := rows.Scan(&m.CaseID, &m.Case, &m.Target); err != nil {
			return 0, nil, db.explain("read attempts", err)
		}
		first = append(first, m)
	}
	return n, first, db.explain("read attempts", rows.Err())
}
