// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package native

import (
	_ "embed"
	"fmt"

	"github.com/callvet/callvet"
)

//go:embed schema/suite.schema.json
var suiteSchema string

//go:embed schema/template.yaml
var template string

// Schema returns a published JSON Schema (draft 2020-12) by name; "suite" is
// the only one. The loader accepts what the schema accepts and refuses what it
// refuses, and then looks further (see Lint).
func Schema(name string) ([]byte, error) {
	if name != "suite" {
		return nil, &callvet.Hinted{Err: fmt.Errorf("print schema: %w: no schema is called %q", callvet.ErrNotFound, name), Hint: "suite is one"}
	}
	return []byte(suiteSchema), nil
}

// Template returns a small commented suite to start from. It is free of lint.
func Template() []byte { return []byte(template) }
