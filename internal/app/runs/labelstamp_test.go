// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package runs

import (
	"testing"

	"github.com/callvet/callvet/internal/app/results"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet/internal/labels"
)

// TestStamp: labels without a fingerprint get that of their attempt, where the run has one and it is no other's.
func TestStamp(t *testing.T) {
	t.Parallel()
	yes, no := true, false
	judged := func(pass *bool) []labels.Verdict {
		return []labels.Verdict{{Judge: labels.Judge{Name: "j"}, Pass: pass}}
	}
	item := func(target, task string) labels.CalibrationItem {
		return labels.CalibrationItem{
			Key:         labels.Key{Target: target, TaskID: task, Unit: labels.Task},
			Fingerprint: target + task, Judged: judged(&yes),
		}
	}
	r := &results.JudgedRun{
		ID: "run", At: map[labels.Key]int{},
		Items: []labels.CalibrationItem{item("a", "one"), item("a", "both"), item("b", "both")},
	}
	for i := range r.Items {
		r.At[r.Items[i].Key] = i
	}
	label := func(target, task, print string, pass *bool) labels.Label {
		return labels.Label{Key: labels.Key{Target: target, TaskID: task}, Fingerprint: print, Judged: judged(pass)}
	}
	all := []labels.Label{
		label("", "one", "", &yes), label("a", "one", "", &no), label("b", "both", "", nil),
		label("", "both", "", &yes), label("", "none", "", &yes),
		label("", "one", "f", &yes),
	}
	want := &LabelsStamped{Stamped: 3, Had: 1, Absent: 2, Compared: 2, Contradict: 1}
	if d := cmp.Diff(want, stamp(r, all, labels.Stamp{By: "ann"})); d != "" {
		t.Error(d)
	}
	var prints []string
	for _, l := range all {
		prints = append(prints, l.Fingerprint)
	}
	if d := cmp.Diff([]string{"aone", "aone", "bboth", "", "", "f"}, prints); d != "" {
		t.Error(d)
	}
}
