// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package losses checks that lost attempts of a run or a trace file never make a gate pass. Every
// face (gates, badges, JUnit, lists, the API, the page and schedules) must count the same attempts as
// planned and as lost. Source: Statistics specification, section 16.2.
package losses
