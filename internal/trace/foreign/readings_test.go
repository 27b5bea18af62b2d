// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package foreign

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/trace"
	gocmp "github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

// TestReadings holds every member that is read of small files in many forms. Each file of
// testdata/readings.txtar, NAME, has what is read of it in NAME.read; -update rewrites that.
func TestReadings(t *testing.T) {
	t.Parallel()
	const path = "testdata/readings.txtar"
	archive, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want, now := map[string]string{}, &txtar.Archive{Comment: archive.Comment}
	for _, f := range archive.Files {
		want[f.Name] = string(f.Data)
	}
	for _, f := range archive.Files {
		if strings.HasSuffix(f.Name, ".read") {
			continue
		}
		as, r, err := importText(string(f.Data), Options{})
		got := reading(as, r, err)
		now.Files = append(now.Files, f, txtar.File{Name: f.Name + ".read", Data: []byte(got)})
		if d := gocmp.Diff(want[f.Name+".read"], got); d != "" && !*update {
			t.Errorf("%s: %s", f.Name, d)
		}
		if d := roundTrip(t, as); d != "" {
			t.Errorf("%s: written and read again: %s", f.Name, d)
		}
	}
	if *update {
		if err := os.WriteFile(path, txtar.Format(now), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// reading is all that was read of a file, a line per turn.
func reading(as []trace.Attempt, r Report, err error) string {
	var b strings.Builder
	if err != nil {
		return "error: " + err.Error() + "\n"
	}
	for i := range as {
		tr := &as[i].Trace
		fmt.Fprintf(&b, "%s",
			strings.Join(nonEmpty(tr.CaseID, tr.Target, tr.Model, ending(tr), "finish="+tr.FinishReason,
				"end="+string(tr.End), faultText(tr.Fault)), " "))
		if u := tr.Usage; u.Known {
			fmt.Fprintf(&b, " tokens=%d,%d,%d,%d,%d", u.InputTokens, u.OutputTokens, u.CachedTokens, u.CacheWriteTokens,
				u.ReasoningTokens)
		}
		fmt.Fprintln(&b)
		for _, turn := range as[i].Input {
			fmt.Fprintln(&b, "  input", turnText(turn))
		}
		for _, turn := range tr.Turns {
			fmt.Fprintln(&b, " ", turnText(turn))
		}
		for _, tool := range as[i].Tools {
			fmt.Fprintln(&b, "  offered", tool.Name)
		}
		for _, n := range tr.Notes {
			fmt.Fprintln(&b, "  note", n)
		}
	}
	for _, k := range slices.Sorted(maps.Keys(r.Lost)) {
		fmt.Fprintf(&b, "lost %d %s\n", r.Lost[k], k)
	}
	return b.String()
}

func turnText(t callvet.Turn) string {
	parts := nonEmpty(string(t.Role), t.CallID, t.Tool, t.Content)
	if t.Reasoning != "" {
		parts = append(parts, "(thought "+t.Reasoning+")")
	}
	for _, c := range t.Calls {
		parts = append(parts, "["+
			strings.Join(nonEmpty(c.ID, c.Tool, compact(c.Args), c.ArgsRaw, string(c.Status), c.Error,
				string(c.Result)), " ")+"]")
	}
	return strings.Join(parts, " ")
}

func faultText(f *callvet.Fault) string {
	if f == nil {
		return ""
	}
	return "fault=" + f.Message
}

func nonEmpty(list ...string) []string {
	return slices.DeleteFunc(list, func(s string) bool { return s == "" || strings.HasSuffix(s, "=") })
}
