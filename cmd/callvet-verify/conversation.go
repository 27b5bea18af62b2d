// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/cmd/callvet-verify/jsonl"
	"github.com/callvet/callvet/score/bfcl"
	"github.com/callvet/callvet/value"
)

// conversations judges the executed attempts at BFCL's cases of several turns,
// compares verdict and error type with the official ones, and then compares the
// runs of each half with one another, all categories.
func conversations(ctx context.Context, out io.Writer, data string) (bool, error) {
	set := filepath.Join(data, "sets", "bfcl_v4_2025-11")
	halves, err := filepath.Glob(filepath.Join(set, "*", "multi_turn"))
	if err != nil {
		return false, fmt.Errorf("list %s: %w", set, err)
	}
	if len(halves) == 0 {
		return false, fmt.Errorf("verify bfcl-multiturn: %w: no multi_turn folder under %s", callvet.ErrNotFound, set)
	}
	check, err := newBFCLCheck(filepath.Base(set), filepath.Join(set, "cases"))
	if err != nil {
		return false, err
	}
	ok, total := true, tally{}
	for _, folder := range halves {
		half := filepath.Dir(folder)
		runs := newRunBook()
		good, err := conversationFiles(out, folder, runs)
		if err != nil {
			return false, err
		}
		total.add(good)
		if err := singleTurns(ctx, check, half, runs); err != nil {
			return false, err
		}
		right, err := runs.report(out, half)
		if err != nil {
			return false, err
		}
		ok = ok && right
	}
	fmt.Fprintf(out, "bfcl-multiturn: %s verdicts and error types as recorded\n", total)
	return ok && total.all(), nil
}

// conversationFiles judges every file of a folder and prints a line for each.
func conversationFiles(out io.Writer, folder string, runs *runBook) (tally, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.jsonl*"))
	if err != nil {
		return tally{}, fmt.Errorf("list %s: %w", folder, err)
	}
	var total tally
	for _, path := range files {
		name := jsonl.Stem(path)
		run := name[:max(0, strings.LastIndex(name, "__"))]
		var t tally
		err := jsonl.Lines(path, func(line []byte) error {
			row, err := readConversation(line)
			if err != nil { // a miss, and no reason to keep the others from being counted
				fmt.Fprintf(out, "%s: a row cannot be read: %v\n", name, err)
				t.count(false)
				return nil
			}
			v := bfcl.CheckConversation(&row.attempt)
			if !t.count(v.OK == row.Valid && string(v.Error) == row.ErrorType) {
				fmt.Fprintf(out, "differs: %s %s: official %s, callvet %s (turn %d)\n", name, row.ID, row.ErrorType, v.Error, v.Turn+1)
			}
			return runs.add(run, &row.officialRow, v.OK)
		})
		if err != nil {
			return tally{}, err
		}
		fmt.Fprintf(out, "%-8s %-75s %s\n", filepath.Base(filepath.Dir(folder)), name, t)
		total.add(t)
	}
	return total, nil
}

type conversationRow struct {
	officialRow
	attempt bfcl.Conversation
}

// readConversation reads one executed attempt with its recorded verdict. What
// the data say about the equality of states is not used, but where they leave
// out the state of the right calls as being the same.
func readConversation(line []byte) (*conversationRow, error) {
	v, err := value.Parse(line)
	if err != nil {
		return nil, err
	}
	row := &conversationRow{officialRow: officialRow{ID: text(v, "id"), Category: text(v, "category"), ErrorType: text(v, "error_type")}}
	valid, _ := v.Get("valid")
	row.Valid = valid.Bool()
	turns, _ := v.Get("turns")
	row.attempt.Failed = turns.Kind() != value.Array
	if n, ok := v.Get("n_turns_truth"); ok {
		f, _ := n.Float()
		row.attempt.Expected = int(f)
	}
	for e, ok := turns.First(); ok; e, ok = turns.Next(e) {
		row.attempt.Turns = append(row.attempt.Turns, readTurn(e))
	}
	return row, nil
}

func readTurn(v value.Value) bfcl.ConversationTurn {
	var t bfcl.ConversationTurn
	steps, _ := v.Get("steps")
	for s, ok := steps.First(); ok; s, ok = steps.Next(s) {
		calls, _ := s.Get("calls")
		t.Results = append(t.Results, results(calls)...)
	}
	truth, _ := v.Get("ground_truth")
	t.Truth = results(truth)
	t.State, _ = v.Get("state")
	if t.TruthState, _ = v.Get("ground_truth_state"); t.TruthState.Kind() == value.String && t.TruthState.Str() == "same" {
		t.TruthState = t.State
	}
	return t
}

func results(calls value.Value) (out []string) {
	for c, ok := calls.First(); ok; c, ok = calls.Next(c) {
		out = append(out, text(c, "result"))
	}
	return out
}

func text(v value.Value, key string) string {
	m, _ := v.Get(key)
	return m.Str()
}

// singleTurns scores the recorded answers of a half, as verify bfcl does.
func singleTurns(ctx context.Context, check *bfclCheck, half string, runs *runBook) error {
	files, err := filepath.Glob(filepath.Join(half, "outputs", "*.jsonl*"))
	if err != nil {
		return fmt.Errorf("list %s: %w", half, err)
	}
	var bad error
	check.each = func(name string, row *officialRow, passed bool) {
		if err := runs.add(name, row, passed); err != nil {
			bad = err
		}
	}
	for _, f := range files {
		if err := check.file(ctx, f); err != nil {
			return err
		}
	}
	return bad
}

// tally counts agreements.
type tally struct{ same, n int }

func (t *tally) count(same bool) bool {
	t.n++
	if same {
		t.same++
	}
	return same
}

func (t *tally) add(o tally) { t.same, t.n = t.same+o.same, t.n+o.n }

// all is false for nothing: a proof over no data proves nothing.
func (t tally) all() bool { return t.n > 0 && t.same == t.n }

// orNone is String for a count that may be of nothing.
func (t tally) orNone() string {
	if t.n == 0 {
		return "none"
	}
	return t.String()
}

func (t tally) String() string {
	if t.all() {
		return fmt.Sprintf("%d of %d", t.same, t.n)
	}
	return fmt.Sprintf("%d of %d WRONG", t.same, t.n)
}
