// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package gates answers one question: may this build go on?
//
// A Gate is a limit on one metric of panel.Panels, for one slice or for every value of a key.
// Evaluate compares all of them with the panels, and with the paired comparison with a baseline,
// and returns a Report with a Verdict for each gate, target and slice: the number, the end of its
// interval that decided, a sentence with the reason, and what would settle an open one.
//
// Chance and Fewest give the power of a gate: they draw what a gate would see and ask the gate
// itself.
//
// The arithmetic is in stats/gate. The package reads no file of gates and makes no panels.
package gates
