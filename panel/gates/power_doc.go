// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package power answers one question: with what chance does a gate decide?
//
// Rate, Judged, Amount and Paired say what is assumed of the truth. Each draws what a
// gate would see of so many tasks or labels, makes of it the interval that panels have,
// and asks the gate itself (gates.Gate.Hold and HoldChange). Chance counts how often it
// says what is wanted, and Fewest looks for the smallest size at which that is often
// enough. There is no formula of power, with one exception: for independent tasks with one
// value each the chance is added up exactly instead of simulated.
//
// Simulations have a fixed seed: the same question has the same answer.
package gates
