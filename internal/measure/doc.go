// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package measure answers one question: what do these trace files add up to? Run cuts them into
// blocks of lines, lets workers read and score the blocks, and fills a steps.Sheet. The memory for
// that does not depend on the size of the files. The result is the same for any number of workers,
// up to the limits of panel/steps (256 targets, 64 judges, 16,384 tools, 512 keys). Which names
// beyond them become "(other)" depends on the order of arrival.
//
// A Side is one side of a comparison, a run or a trace file, task by task. It takes task records
// and, where a metric or a slice needs them, scored steps, and returns a panel.Ledger.
//
// A Watch adds breaches of safety to whole attempts, and the verdict of a suite where an attempt is
// one at its cases. A ParquetWriter writes scored calls, one row per call; an unknown measurement
// is null, never false or 0.
//
// The package opens no files: a Source does. Package score decides what a step is worth, and
// panel/steps what steps add up to.
package measure
