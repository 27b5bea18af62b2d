// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package losses checks that a run, or a trace file, that lost attempts passes no gate because of
// it. Every face must count the same attempts as planned and as lost: gates, badges, JUnit, lists,
// the API, the page and schedules. Source: Statistics specification, section 16.2.
package losses
