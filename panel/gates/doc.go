// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package gates answers one question: may this build go on?
//
// A Gate is a bound on one metric of panel.Panels, for one slice or for every
// value of a key; Evaluate holds all of them against the panels, and against the
// paired comparison with a baseline, and gives a Report with a Verdict for each
// gate, target and slice: the number, the end of its interval that decided, the
// sentence that says so, and what would settle an open one.
//
// The arithmetic of deciding is stats/gate. The package reads no gate file, makes
// no panels, and does not know where a trace is to be opened: it names the tasks.
package gates
