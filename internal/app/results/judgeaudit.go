// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package results

// AuditPlan is what a judging that is an audit keeps of it. Its verdicts are of attempts that
// were changed, and count nowhere else.
type AuditPlan struct {
	Pairs int    `json:"pairs"`
	Seed  uint64 `json:"seed"`
	// Drawn are the attempts that it asks about, of From.
	Drawn int `json:"drawn"`
	From  int `json:"from"`
}
