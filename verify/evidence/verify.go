// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package evidence

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/callvet/callvet/verify/proof"
)

// The number of comparisons of each subject: cells, goals of histories, and exit codes of imports.
const (
	wiresDue      = 2146
	recordingsDue = 3962
	agentsDue     = 4108
	importsDue    = 4978
	spellingsDue  = 9438
	historyDue    = 266
)

// Verify compares the binary's reading of answers with the rules, in a separate folder.
func Verify(ctx context.Context, c *proof.Check, path string) (err error) {
	if path, err = filepath.Abs(path); err != nil {
		return fmt.Errorf("verify evidence: %w", err)
	}
	dir, err := os.MkdirTemp("", "evidence")
	if err != nil {
		return fmt.Errorf("verify evidence: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	b := &binary{path, dir}
	for _, part := range []struct {
		subject string
		due     int
		run     func(context.Context, *checker) error
	}{
		{"wires", wiresDue, overWires},
		{"recordings", recordingsDue, overRecordings},
		{"agents", agentsDue, overAgents},
		{"trace files", importsDue, overImports},
		{"calls as text", spellingsDue, overSpellings},
		{"history", historyDue, overHistory},
	} {
		c.Due(part.subject, part.due, "this command")
		err = errors.Join(err, part.run(ctx, &checker{c, part.subject, b}))
	}
	return err
}

// checker compares one subject.
type checker struct {
	*proof.Check
	subject string
	*binary
}

// is compares an attempt with the right ends: one of several.
func (c *checker) is(item string, got *seen, right ...end) {
	ok := slices.ContainsFunc(right, func(e end) bool { return got.end().is(e) })
	if ok && got.Outcome == called.outcome {
		ok = len(got.calls) == 1 && got.calls[0] == theTool+argumentsText()
	}
	c.Compare(c.subject, item, ok, "%s, want %v", got, right)
}

// exits compares the exit code of a command.
func (c *checker) exits(item string, code, want int, errs string) {
	c.Compare(c.subject, item+": exit code", code == want, "%d, want %d: %.300s", code, want, errs)
}

func idsOf(cells []cell) []string {
	var out []string
	for i := range cells {
		out = append(out, cells[i].id)
	}
	return out
}

// overWires requests every cell from a server in every API, whole and streamed.
func overWires(ctx context.Context, c *checker) error {
	for _, w := range wires() {
		cells := slices.DeleteFunc(matrix(), func(k cell) bool { return !w.has(&k) })
		replies := map[string]reply{}
		for i := range cells {
			replies[cells[i].id] = cells[i].reply()
		}
		if err := c.write("suite.json", suite(idsOf(cells))); err != nil {
			return err
		}
		srv := w.answering(replies)
		for _, stream := range []bool{false, true} {
			how, flags := w.name, []string{"--base-url", srv.URL + w.path}
			if stream {
				how, flags = w.name+", streamed", append(flags, "--stream")
			}
			all, err := c.evaluated(ctx, "suite.json", w.target, flags...)
			if err != nil {
				srv.Close()
				return err
			}
			for i := range cells {
				if k := &cells[i]; !stream || w.streams(k) {
					c.is(how+": "+k.String(), all[k.id], append(w.also(k, stream), k.right(stream))...)
				}
			}
		}
		srv.Close()
	}
	return nil
}
