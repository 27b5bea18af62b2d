// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package plan answers one question: how many tasks and labels are needed before a
// gate on a metric can decide? Ask says what is asked, Make turns it into a Plan, or
// says which of the settings the metric has no use for. It reads nothing: what is
// known from a pilot is handed to it. The arithmetic stays in stats/gate, the gates that are tried
// in panel/power; internal/report/verdict writes a Plan for people.
package plan
