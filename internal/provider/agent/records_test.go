// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package agent

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/message"
	"github.com/callvet/callvet/internal/mutate"
)

// TestBadRecords leaves out and replaces members of the events of every protocol: nothing
// panics, and an agent that called does not abstain. Each stream has several calls.
func TestBadRecords(t *testing.T) {
	t.Parallel()
	count := mutate.Count(os.Getenv, 300)
	opts := message.Options{
		Input: []callvet.Turn{{Role: callvet.RoleUser, Content: "?"}},
		Tools: callvet.NewToolset([]callvet.Tool{{Name: "find_room"}, {Name: "reserve"}}),
	}
	for name, tt := range protocolStreams() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for i, event := range tt.events {
				before, data, ok := strings.Cut(event, "data: ")
				if !ok {
					continue
				}
				for c := range mutate.Some([]byte(strings.TrimSpace(data)), max(count/len(tt.events), 1),
					mutate.Huge(count), uint64(i)) {
					changed := append([]string(nil), tt.events...)
					changed[i] = before + "data: " + string(c.Text) + "\n\n"
					resp, err := Stream(strings.NewReader(strings.Join(changed, "")), "", opts, time.Now(), time.Now)
					var fault *callvet.Fault
					if err != nil {
						if !errors.As(err, &fault) {
							t.Fatalf("event %d, %s: %v is no fault", i, c.String(), err)
						}
						continue
					}
					why, fault := resp.Ending()
					trace := callvet.Trace{Turns: resp.Turns, FinishReason: resp.FinishReason, Fault: fault}
					called := strings.Contains(strings.Join(changed, ""), "find_room") && !resp.UnknownCalls()
					if trace.Classify(why); trace.Outcome == callvet.OutcomeAbstained && called {
						t.Errorf("event %d, %s: %s", i, c.String(), trace.Outcome)
					}
				}
			}
		})
	}
}
