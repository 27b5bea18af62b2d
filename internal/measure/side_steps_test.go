// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package measure

import (
	"strings"
	"testing"

	"github.com/callvet/callvet/panel"
)

// TestRatesOfCalls: the values of a metric are those of calls where panel.RateOfCalls reports it, and only there.
func TestRatesOfCalls(t *testing.T) {
	t.Parallel()
	records := map[int]*record{0: {ran: true, exposed: true}}
	for _, name := range panel.Comparable() {
		ofAttempts := total(name, "", records, nil).Each
		if ofCalls(name) {
			ofAttempts = scoreOfAttempt(name) || strings.HasSuffix(name, "_by_task") || name == panel.MetricToolLatencyMean
		}
		if ofAttempts == panel.RateOfCalls(name) {
			t.Errorf("%s is a rate of calls: %t", name, !ofAttempts)
		}
	}
}
