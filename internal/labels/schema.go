// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package labels

import (
	_ "embed"
	"fmt"

	"github.com/callvet/callvet"
)

//go:embed schema/labels.schema.json
var labelsSchema string

//go:embed schema/calibration.schema.json
var calibrationSchema string

// Schema returns a published JSON Schema (2020-12) by name: "labels" (one line of
// a labels file) or "calibration". The error wraps callvet.ErrNotFound.
func Schema(name string) ([]byte, error) {
	switch name {
	case "labels":
		return []byte(labelsSchema), nil
	case "calibration":
		return []byte(calibrationSchema), nil
	}
	return nil, fmt.Errorf("print schema: %w: no schema is called %q", callvet.ErrNotFound, name)
}
