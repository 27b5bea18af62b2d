// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package gates answers one question: may this build pass?
//
// A Gate is a limit on one metric of panel.Panels, for one slice or for every value of a key.
// Evaluate compares gates with the panels, and with the paired comparison with a baseline. It
// returns a Report with a Verdict for each gate, target and slice. A Verdict has the number, the
// end of its interval that decided, a sentence with the reason, and the remedy for an open verdict.
//
// Chance and Fewest compute the power of a gate: they draw data for a gate and let the gate decide.
//
// The arithmetic is in stats/gate. The package reads no file of gates and makes no panels.
package gates
