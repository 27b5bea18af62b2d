// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package labels

import _ "embed"

//go:embed schema/labels.schema.json
var labelSchema string

//go:embed schema/gold.schema.json
var goldSchema string

// Schema is the published JSON Schema (2020-12) of one line of a labels file.
func Schema() []byte { return []byte(labelSchema) }

// GoldSchema is the published JSON Schema (2020-12) of a gold file.
func GoldSchema() []byte { return []byte(goldSchema) }
