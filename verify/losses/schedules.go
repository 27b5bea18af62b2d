// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package losses

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"time"

	"github.com/callvet/callvet/internal/sys"
)

// ofSchedules names the comparisons of schedules.
const ofSchedules = "schedules"

// until polls until a condition holds.
func until(ctx context.Context, what string, holds func() (bool, error)) error {
	for end := time.Now().Add(patience); ; {
		if ok, err := holds(); ok || err != nil {
			return err
		}
		if time.Now().After(end) {
			return fmt.Errorf("waited %s for %s", patience, what)
		}
		if err := sys.Sleep(ctx, 20*time.Millisecond); err != nil {
			return err
		}
	}
}

// fired is an entry in the history of a schedule.
type fired struct {
	State    string `json:"state"`
	Job      string `json:"job_id"`
	Verdict  string `json:"verdict"`
	Sentence string `json:"sentence"`
	Totals   *struct {
		Attempts int    `json:"total_cases"`
		Verdicts counts `json:"verdicts"`
	} `json:"totals"`
}

// schedule lets a schedule make a run with the loss, and compares its history and its webhook.
func (f *faces) schedule(ctx context.Context) error {
	var received atomic.Pointer[fired]
	hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var m struct {
			Data struct {
				Run *fired `json:"run"`
			} `json:"data"`
		}
		if json.NewDecoder(r.Body).Decode(&m) == nil && m.Data.Run != nil {
			received.Store(m.Data.Run)
		}
	}))
	defer hook.Close()
	suite, err := keep(ctx, f.server, f.loss.name == "silent judge")
	if err != nil {
		return err
	}
	eval := f.lab.evalOf(suite)
	f.loss.eval(f.lab, eval)
	var made struct {
		ID string `json:"id"`
	}
	if err := f.server.Ask(ctx, http.MethodPost, "/api/schedules",
		map[string]any{"name": f.loss.name, "eval": eval, "gates": tight(f.lower), "webhook_url": hook.URL},
		&made); err != nil {
		return err
	}
	from := f.lab.model.answered.Load()
	var began fired
	if err := f.server.Ask(ctx, http.MethodPost, "/api/schedules/"+made.ID+"/run", nil, &began); err != nil {
		return err
	}
	if f.loss.run == nil {
		if err := f.lab.half(ctx, from); err != nil {
			return err
		}
		if err := cancel(ctx, f.server, began.Job); err != nil {
			return err
		}
	}
	var over fired
	err = until(ctx, "the schedule", func() (bool, error) {
		var history struct {
			Items []fired `json:"items"`
		}
		err := f.server.Ask(ctx, http.MethodGet, "/api/schedules/"+made.ID+"/history", nil, &history)
		if len(history.Items) == 1 {
			over = history.Items[0]
		}
		return over.State != "" && over.State != "running", err
	})
	if err == nil {
		err = until(ctx, "the webhook", func() (bool, error) { return received.Load() != nil, nil })
	}
	if err != nil {
		return err
	}
	f.fired("history", &over)
	f.fired("webhook", received.Load())
	return nil
}

// fired compares the reports about a run of a schedule.
func (f *faces) fired(face string, got *fired) {
	lost, total := -1, -1
	if got.Totals != nil {
		lost, total = got.Totals.Verdicts.lost(), got.Totals.Verdicts.planned()
	}
	right := total == planned && lost > 0 && (f.loss.lost == 0 || lost == f.loss.lost)
	f.Compare(ofSchedules, f.loss.name+": counts in the "+face, right, "%d of %d lost: %+v", lost, total, got)
	f.Compare(ofSchedules, f.loss.name+": verdict in the "+face, got.Verdict == inconclusive &&
		strings.Contains(got.Sentence, fmt.Sprintf("%d of %d attempts lost", lost, planned)), "%+v", got)
}
