// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package native

import _ "embed"

//go:embed schema/template.yaml
var template string

// Schema is the JSON Schema (draft 2020-12) of a suite. The loader accepts and refuses the same
// files as the schema, and then checks more (see Lint).
func Schema() []byte { return []byte(suiteSchema) }

// Template returns a small commented suite to start from. It is free of lint.
func Template() []byte { return []byte(template) }
