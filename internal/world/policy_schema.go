// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package world

import _ "embed" // the schema is a file, for editors and people

//go:embed policy.schema.json
var schema []byte

// PolicySchema is the published JSON Schema of a policy file.
func PolicySchema() []byte { return schema }
