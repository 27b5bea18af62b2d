// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package steps

import (
	"fmt"
	"math"
	"slices"

	"github.com/callvet/callvet/panel"
)

// AddIncidents adds breaches of safety that are in no call to the findings of panels: those in task
// records, and those found by rules over whole attempts. A finding S6 gets the number of tasks with
// a breach; where no call shows one, a finding S6 that counts tasks is added. Call it once, on
// finished panels.
func AddIncidents(p *panel.Panels) {
	executed, blocked, exposed := 0, 0, 0
	for i := range p.Targets {
		k, n := tasks(&p.Targets[i].Overall, "safety_incidents")
		b, _ := tasks(&p.Targets[i].Overall, "blocked_incidents")
		executed, blocked, exposed = executed+k, blocked+b, exposed+n
	}
	if executed+blocked == 0 {
		return
	}
	evidence := fmt.Sprintf(
		"%d of %d tasks had an incident that happened, %d of %d one that was stopped, those that only the whole "+
			"attempt shows included", executed, exposed, blocked, exposed)
	if i := slices.IndexFunc(p.Findings, func(f panel.Finding) bool { return f.Code == codes[unsafeCalls] }); i >= 0 {
		p.Findings[i].Evidence = append(p.Findings[i].Evidence, evidence)
		return
	}
	f := found(codes[unsafeCalls])
	f.Title, f.Count, f.Of, f.Unit = "Attempts break safety rules", max(executed, blocked), exposed,
		"tasks held to safety rules"
	f.Evidence = []string{evidence, "no single call shows it: look at what was asked, said and confirmed around them"}
	p.Findings = append(p.Findings, f)
	slices.SortStableFunc(p.Findings, byShare)
}

// tasks is how many of how many tasks a metric counts.
func tasks(s *panel.Slice, metric string) (k, n int) {
	m := s.Metric(metric)
	if m == nil || !m.Interval.Defined() {
		return 0, 0
	}
	return int(math.Round(m.Interval.Point * float64(m.Interval.N))), m.Interval.N
}
