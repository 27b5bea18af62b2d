// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package redact

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"go/scanner"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/callvet/callvet"
)

// attemptWith is one at a case without personal data, by a target that gave args.
func attemptWith(args string) (callvet.Case, callvet.Cell) {
	body, _ := json.Marshal(args) // a string always marshals
	return callvet.Case{ID: "c", Input: []callvet.Turn{{Role: callvet.RoleUser, Content: "Mail it."}}},
		callvet.Cell{Trace: callvet.Trace{
			CaseID: "c", Turns: []callvet.Turn{{
				Role: callvet.RoleAssistant, Calls: []callvet.Call{{Tool: "mail", Args: json.RawMessage(args)}},
				Raw: fmt.Appendf(nil, `{"arguments":%s}`, body),
			}},
			Exchanges: []callvet.Exchange{{Response: fmt.Sprintf(`{"message":{"arguments":%s}}`, body)}},
		}}
}

// TestRedactedOnce: what a cell was stored with is not searched again where it is shown, but for values that were
// not known to be secret then, and for what the suite has.
func TestRedactedOnce(t *testing.T) {
	t.Parallel()
	const secret = "sesame-9Qx4/door"
	for name, c := range map[string]struct {
		args    string
		off     []Kind   // where it was written
		rest    string   // of the suite
		version int      // that was written; 0: that of today
		values  []string // known where it is shown
		marked  bool
		hidden  string // which is not in what is shown
	}{
		"nothing found":       {args: `{"to":"Lisboa"}`, marked: true, hidden: "REDACTED"},
		"found":               {args: `{"to":"bob@example.com"}`, marked: true, hidden: "bob@"},
		"the suite has it":    {args: `{"to":"bob@example.com"}`, rest: `{"a":"bob@example.com"}`, hidden: "bob@"},
		"a kind was off":      {args: `{"to":"bob@example.com"}`, off: []Kind{"email"}, hidden: "bob@"},
		"known later":         {args: `{"to":"` + secret + `"}`, values: []string{secret}, marked: true, hidden: "sesame"},
		"known later, within": {args: `{"to":"x` + secret + `y"}`, values: []string{secret}, marked: true, hidden: "sesame"},
		"known later, as an escape": {
			args: `{"to":"\u0073esame-9Qx4\/door"}`, values: []string{secret}, marked: true, hidden: "esame-9Q",
		},
		"known later, with a quote": {
			args: `{"to":"se\"same-9Qx4"}`, values: []string{`se"same-9Qx4`}, marked: true, hidden: "same-9Q",
		},
		"an earlier version": {
			args: `{"to":"bob@example.com"}`, off: []Kind{"email"}, version: Version + 1, marked: true, hidden: "bob@",
		},
	} {
		at, cell := attemptWith(c.args)
		writer, err := New(Config{Off: c.off})
		if err != nil {
			t.Fatal(err)
		}
		writer.Cell(&at, []byte(c.rest), &cell)
		if c.version != 0 {
			cell.Redacted = c.version
		}
		if got := cell.Redacted != 0; got != c.marked {
			t.Errorf("%s: marked %v, want %v", name, got, c.marked)
		}
		viewer, err := New(Config{Values: c.values})
		if err != nil {
			t.Fatal(err)
		}
		_, row := viewer.Row(&at, &cell)
		shown, err := json.Marshal(&row)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(shown), c.hidden) {
			t.Errorf("%s: shown is %s", name, shown)
		}
		cell.Redacted = 0
		_, row = viewer.Row(&at, &cell)
		whole, err := json.Marshal(&row)
		if err != nil {
			t.Fatal(err)
		}
		if string(shown) != string(whole) {
			t.Errorf("%s: shown is\n%s, and searched again\n%s", name, shown, whole)
		}
	}
}

// TestMarkedIsNotSearched: a mark is believed, which is what saves the search.
func TestMarkedIsNotSearched(t *testing.T) {
	t.Parallel()
	at, cell := attemptWith(`{"to":"bob@example.com"}`)
	cell.Redacted = Version
	viewer, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	if _, row := viewer.Row(&at, &cell); !strings.Contains(string(row.Trace.Turns[0].Calls[0].Args), "bob@") {
		t.Errorf("searched again: %s", row.Trace.Turns[0].Calls[0].Args)
	}
}

// TestVersion: the code that finds is that of the present Version. Where it changes so that more is found, raise
// Version; then write the new sum here. Comments do not count.
func TestVersion(t *testing.T) {
	t.Parallel()
	const version, sum = 1, "e100286a8b4b80847bc4c6ad"
	h := sha256.New()
	for _, pattern := range []string{"*.go", "../../score/safety/pii*.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(files), err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") || strings.Contains(file, "keeper") ||
				strings.Contains(file, "child_") || strings.Contains(file, "address_") {
				continue
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var s scanner.Scanner
			set := token.NewFileSet()
			s.Init(set.AddFile(file, -1, len(text)), text, nil, 0)
			for {
				_, tok, lit := s.Scan()
				if tok == token.EOF {
					break
				}
				fmt.Fprintln(h, tok, lit)
			}
		}
	}
	if got := fmt.Sprintf("%.12x", h.Sum(nil)); got != sum || version != Version {
		t.Errorf("the code of version %d has the sum %s, want version %d with %s", Version, got, version, sum)
	}
}
