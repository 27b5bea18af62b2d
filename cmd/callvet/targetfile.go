// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/goccy/go-yaml"

	"github.com/callvet/callvet"
)

// targetsSchema is the published JSON Schema of a targets file.
const targetsSchema = `{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "title": "callvet targets file",
  "type": "object",
  "required": ["targets"],
  "additionalProperties": false,
  "properties": {
    "targets": {
      "type": "array", "minItems": 1,
      "items": {
        "type": "object", "required": ["target"], "additionalProperties": false,
        "properties": {
          "target": {"type": "string", "description": "as after -m: openai/gpt-5-mini, http://…, exec:…, recorded:…"},
          "name": {"type": "string", "description": "how reports call it"},
          "base_url": {"type": "string"},
          "api_key_env": {"type": "string", "description": "environment variable that holds the key"},
          "system_prompt": {"type": "string"},
          "tool_choice": {"type": "string"},
          "params": {
            "type": "object", "additionalProperties": false,
            "properties": {
              "temperature": {"type": "number"}, "top_p": {"type": "number"}, "max_tokens": {"type": "integer"}, "seed": {"type": "integer"},
              "reasoning_effort": {"type": "string"}, "parallel_calls": {"type": "boolean"},
              "stop": {"type": "array", "items": {"type": "string"}},
              "extra": {"type": "object", "description": "sent as it is"}
            }
          },
          "stream": {"type": "boolean"},
          "headers": {"type": "object", "additionalProperties": {"type": "string"}, "description": "for HTTP agents; ${VAR} reads the environment"},
          "agent": {"type": "object", "additionalProperties": {"type": "string"}, "description": "where input and output stand: input, session, history, system, tools, stubs, text, calls, name, args, result, error"},
          "body": {"type": "object", "description": "sent beside the input of an HTTP agent"},
          "concurrency": {"type": "integer", "minimum": 1},
          "rate": {"type": "number", "minimum": 0, "description": "requests per second"}
        }
      }
    }
  }
}
`

// readTargets reads a targets file; what an entry does not say comes from shared.
func readTargets(path string, shared targetSpec) ([]targetSpec, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read targets: %w", err)
	}
	js, err := yaml.YAMLToJSON(b)
	if err != nil {
		return nil, fmt.Errorf("read targets %s: %w: %w", path, callvet.ErrInvalid, err)
	}
	var doc struct {
		Targets []json.RawMessage `json:"targets"`
	}
	err = strict(js, &doc)
	if err == nil && len(doc.Targets) == 0 {
		err = errors.New("the list is empty")
	}
	if err != nil {
		return nil, &callvet.Hinted{Err: fmt.Errorf("read targets %s: %w: a list under the key targets is needed: %w", path, callvet.ErrInvalid, err), Hint: "callvet schema targets"}
	}
	out := make([]targetSpec, len(doc.Targets))
	for i, raw := range doc.Targets {
		out[i] = shared
		out[i].Params.Extra = nil
		if err := strict(raw, &out[i]); err != nil {
			return nil, &callvet.Hinted{Err: fmt.Errorf("read targets %s: entry %d: %w: %w", path, i+1, callvet.ErrInvalid, err), Hint: "callvet schema targets"}
		}
		if out[i].Target == "" {
			return nil, fmt.Errorf("read targets %s: entry %d: %w: the key target is missing", path, i+1, callvet.ErrInvalid)
		}
	}
	return out, nil
}

func strict(b []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	return d.Decode(into)
}
