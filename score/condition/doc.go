// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package condition holds post-conditions against the results of calls. It
// answers: does this text, such as window_days >= 0 && len(exceptions) > 0, hold
// for that JSON value?
//
// A Condition is compiled once and may be asked by many goroutines. The language
// is that of expr-lang/expr, which parses every text and decides what is not
// common: arithmetic, all(items, .price > 0), matches. Comparisons of paths with
// literals, in, exists, len, and what joins them are decided directly on the
// parsed value; tests hold the two against each other.
//
// Names are the members of the result, and result is the result itself. A
// comparison with what is missing, or of kinds that do not compare, is neither
// true nor false, and a condition that comes out so does not hold: neither
// total > 3 nor not (total > 3) nor total != 3 holds for {}. exists(total) is
// always either. A condition always ends, and reaches nothing but the result; what is not
// a plain comparison does not hold for results of more than a megabyte.
package condition
