// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package condition answers one question: does a condition, such as window_days >= 0 &&
// len(exceptions) > 0, hold for a JSON value?
//
// A Condition is compiled once and is safe for concurrent use. The language is that of
// expr-lang/expr, which parses every text and evaluates uncommon parts: arithmetic, all(items,
// .price > 0), matches. Comparisons of paths with literals, in, exists, len, and their combinations
// are evaluated directly on the parsed value. Tests compare the two evaluations.
//
// Names are the members of the result, and result is the result itself. A comparison with a
// missing member, or of kinds that do not compare, is neither true nor false, and such a
// condition does not hold: neither total > 3 nor not (total > 3) nor total != 3 holds for {}.
// exists(total) is always true or false. A condition always ends, and reads only the result. For
// results of more than a megabyte, only plain comparisons can hold.
package condition
