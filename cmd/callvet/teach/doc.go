// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package teach is `callvet select routes learn`. It answers: which routes do these
// questions teach, and how often are they right on questions that were not learned? A
// Lesson says so; the routes themselves are those of retrieve/route.
//
// It chooses nothing: which examples are right is for their author to know.
package teach
