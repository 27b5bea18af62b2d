// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package judge answers one question: how many tasks truly passed, when a fallible
// judge said which did?
//
// Judged counts the verdicts of a run. Calibration holds what the judge did with
// tasks whose truth people labelled elsewhere (a transported sensitivity and
// specificity); Strata holds labels on tasks of this very run, drawn at random or
// by verdict. Each design has its own estimators, and the wrong one is confidently
// wrong: labels drawn by verdict never go into a Calibration without BeggGreenes.
//
// A judge that is no better than chance, a missing stratum or a calibration that
// cannot belong to the run are told by a Status, with the interval [0,1]. The
// package measures judges; who they are, and whether a calibration was made for
// the same version, the caller keeps.
package judge
