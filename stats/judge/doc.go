// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package judge answers one question: how many tasks truly passed, given the verdicts of a fallible
// judge?
//
// Judged counts the verdicts of a run. Calibration has the judge's verdicts on tasks that people
// labelled elsewhere (a transported sensitivity and specificity). Strata has labels on tasks of
// this run, drawn at random or by verdict. Each design has its own estimators; the wrong one is
// biased. Labels drawn by verdict never go into a Calibration without BeggGreenes.
//
// A judge that is no better than chance, a missing stratum or a calibration that cannot belong to
// the run have a Status, with the interval [0,1]. The package measures judges. The caller knows
// their identity, and whether a calibration was made for the same version.
package judge
