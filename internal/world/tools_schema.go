// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package world

import _ "embed" // the schema is a file, for editors and people

//go:embed live.schema.json
var toolsSchema []byte

// ToolsSchema is the published JSON Schema of a File.
func ToolsSchema() []byte { return append([]byte(nil), toolsSchema...) }
