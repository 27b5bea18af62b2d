// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/score/bfcl"
	"github.com/callvet/callvet/value"
	"github.com/callvet/callvet/verify/jsonl"
	"github.com/callvet/callvet/verify/proof"
)

// conversations judges the executed attempts at BFCL's cases of several turns, and compares verdict
// and error type with the official ones. Then it compares the runs of each model, in all categories.
func conversations(ctx context.Context, c *proof.Check, d proof.Data) error {
	figures, err := d.Published(bfclV4)
	if err != nil {
		return err
	}
	o := &official{bfclV4, figures, nil}
	c.DueFigures(bfclV4, figures, func(path []string) string {
		if len(path) != 3 {
			return "the leaderboard makes them of the categories"
		}
		return ""
	})
	for _, run := range figures.Keys() {
		for _, category := range o.categories(run) {
			if !conversed(category) {
				continue
			}
			n, err := figures.Count(run, category, "total")
			if err != nil {
				return err
			}
			c.Due(conversationsOf(run, category), n, figures.Source)
		}
	}
	runs := newRunBook()
	files, err := d.Files(bfclV4, filepath.Join("multi_turn", "*.jsonl*"))
	if err != nil {
		return err
	}
	for _, path := range files {
		c.Problem(conversationFile(c, path, runs))
	}
	check, err := newBFCLCheck(c, bfclV4, filepath.Join(d.Set(bfclV4), "cases"))
	if err != nil {
		return err
	}
	if err := singleTurns(ctx, check, d, runs); err != nil {
		return err
	}
	runs.report(c, o)
	return nil
}

func conversationsOf(run, category string) string { return run + " " + category }

// conversationFile judges every conversation of a file and prints a line for it.
func conversationFile(c *proof.Check, path string, runs *runBook) error {
	name := jsonl.Stem(path)
	i := strings.LastIndex(name, "__")
	if i < 0 {
		return fmt.Errorf("read %s: %w: the name does not end in a category", path, callvet.ErrInvalid)
	}
	run, category := name[:i], name[i+len("__"):]
	subject := conversationsOf(run, category)
	err := jsonl.Lines(path, func(line []byte) error {
		row, err := readConversation(line)
		if err != nil { // a miss, which must not keep the others from being counted
			c.Problem(fmt.Errorf("read %s: a row cannot be read: %w", name, err))
			return nil
		}
		v := bfcl.CheckConversation(&row.attempt)
		c.Compare(subject, row.ID, v.OK == row.Valid && string(v.Error) == row.ErrorType,
			"official %s, callvet %s (turn %d)", orValid(row.ErrorType), orValid(string(v.Error)), v.Turn+1)
		return runs.add(run, &row.officialRow, v.OK)
	})
	agree, n, _ := c.Tally(subject)
	c.Printf("%-75s %d of %d\n", name, agree, n)
	return err
}

func orValid(errorType string) string { return orElse(errorType, "valid") }

type conversationRow struct {
	officialRow
	attempt bfcl.Conversation
}

// readConversation reads one executed attempt with its recorded verdict. The
// recorded equality of states is used only where the data omit the state of the right calls because
// it is the same.
func readConversation(line []byte) (*conversationRow, error) {
	v, err := value.Parse(line)
	if err != nil {
		return nil, err
	}
	row := &conversationRow{officialRow: officialRow{
		ID: text(v, "id"), Category: text(v, "category"),
		ErrorType: text(v, "error_type"),
	}}
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
	if t.TruthState, _ = v.Get("ground_truth_state"); t.TruthState.Kind() == value.String &&
		t.TruthState.Str() == "same" {
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

// singleTurns scores the recorded answers; bfcl compares the verdicts.
func singleTurns(ctx context.Context, check *bfclCheck, d proof.Data, runs *runBook) error {
	files, err := d.Files(bfclV4, filepath.Join("outputs", "*.jsonl*"))
	if err != nil {
		return err
	}
	check.quiet = true
	for _, f := range files {
		run := jsonl.Stem(f)
		check.each = func(row *officialRow, passed bool) { check.c.Problem(runs.add(run, row, passed)) }
		check.c.Problem(check.file(ctx, f, run))
	}
	return nil
}
