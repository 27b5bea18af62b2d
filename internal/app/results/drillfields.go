// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package results

// The names of the fields that drills set in their cases.
const (
	// FieldTwin is "yes" of a calm twin, "no" of every other case. A case of the suite counts
	// once among those of "no".
	FieldTwin = "twin"
	// FieldDrill is the kind of a shipped drill.
	FieldDrill = "drill"
)
