// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package live

import _ "embed" // the schema is a file, for editors and people

//go:embed live.schema.json
var schema []byte

// Schema is the published JSON Schema of a File.
func Schema() []byte { return append([]byte(nil), schema...) }
