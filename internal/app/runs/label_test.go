// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package runs

import (
	"strings"
	"testing"

	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/labels"
)

// TestLabelNextChecks: an invalid field is refused by its name.
func TestLabelNextChecks(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		req  LabelNextRequest
		want string // "": it can be asked for
	}{
		"tasks of a run": {LabelNextRequest{Side: app.Side{Run: "r"}, Role: labels.Calibrating}, ""},
		"for validation": {LabelNextRequest{Side: app.Side{Run: "r"}, Role: labels.Validation}, ""},
		"for tests":      {LabelNextRequest{Side: app.Side{Run: "r"}, Role: labels.Test}, ""},
		"for a design":   {LabelNextRequest{Side: app.Side{Run: "r"}, Role: labels.Design}, ""},
		"for nothing": {
			LabelNextRequest{Side: app.Side{Run: "r"}, Role: "x"},
			"it is calibration, validation, test or design",
		},
		"a unit": {
			LabelNextRequest{Side: app.Side{Run: "r"}, Role: labels.Test, Unit: "word"},
			"it is task, turn or call",
		},
		"tools of a file": {LabelNextRequest{
			Side: app.Side{Traces: "t"}, Role: labels.Test, Unit: labels.Call,
			Tools: []string{"f"},
		}, ""},
		"calls of a run": {LabelNextRequest{Side: app.Side{Run: "r"}, Role: labels.Test, Unit: labels.Call}, ""},
		"tools of tasks": {
			LabelNextRequest{Side: app.Side{Traces: "t"}, Role: labels.Test, Tools: []string{"f"}},
			"is shown to people who label calls or turns",
		},
		"tools of a run": {LabelNextRequest{
			Side: app.Side{Run: "r"}, Role: labels.Test, Unit: labels.Call,
			Tools: []string{"f"},
		}, "is for trace files: a run has its own"},
		"neither of the both": {LabelNextRequest{Role: labels.Test}, "one of both"},
	} {
		err := tc.req.check()
		if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", name, err, tc.want)
		}
	}
}
