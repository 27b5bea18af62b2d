// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package check looks into one JSON value, such as the result of a call. It
// answers: what stands at this path, and does this condition hold?
//
// A Path leads to members and elements (items[0].id, items[].id). A Check is a
// compiled condition over what paths find; it always ends, and it never fails:
// what is absent makes a comparison false.
//
// It does not know calls, traces or scores, and it does not compare by matching
// modes: two values are equal or they are not.
package check
