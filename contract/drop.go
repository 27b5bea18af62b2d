// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package contract

import (
	"fmt"

	"github.com/callvet/callvet/value"
)

// Dropped returns the reasons why MCP clients and model providers leave out a tool with this valid
// schema of arguments or results: they require an object at the top level. The list is empty for a
// schema that all of them accept, and for an invalid schema.
func Dropped(schema []byte) []string {
	v, err := value.Parse(schema)
	if err != nil || v.Kind() != value.Object {
		return nil
	}
	var out []string
	if t, _ := v.Get("type"); t.Str() != "object" {
		out = append(out, "has no type: object at its top")
	}
	for _, key := range []string{"oneOf", "anyOf", "allOf"} {
		if has(v, key) {
			out = append(out, fmt.Sprintf("has %s at its top", key))
		}
	}
	return out
}

func has(v value.Value, key string) bool {
	_, ok := v.Get(key)
	return ok
}
