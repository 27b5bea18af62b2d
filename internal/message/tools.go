// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package message

import (
	"encoding/json"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

// Tools reads tool definitions: OpenAI's, bare functions, Anthropic's and MCP's.
func Tools(v value.Value) []callvet.Tool {
	var out []callvet.Tool
	for e, ok := v.First(); ok; e, ok = v.Next(e) {
		out = append(out, Tool(e)...)
	}
	return out
}

// Tool reads one definition; nothing where it has no name.
func Tool(e value.Value) []callvet.Tool {
	if f := First(e, "function", "toolSpec"); f.Kind() == value.Object {
		e = f
	}
	t := callvet.Tool{Name: Str(e, "name"), Description: Str(e, "description")}
	if p := First(e, "parameters", "input_schema", "inputSchema", "parameters_json_schema"); p.Kind() == value.Object {
		// Amazon Bedrock's
		if in := First(p, "json"); in.Kind() == value.Object && First(p, "type").Kind() == value.Invalid {
			p = in
		}
		t.Parameters = json.RawMessage(p.Raw())
	}
	if t.Name == "" {
		return nil
	}
	return []callvet.Tool{t}
}
