// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package results

// The names of the fields that drills set in their cases.
const (
	// FieldTwin is "yes" for a calm twin, "no" for every other case. A case of the suite counts
	// once among the cases with "no".
	FieldTwin = "twin"
	// FieldDrill is the kind of a shipped drill.
	FieldDrill = "drill"
)
