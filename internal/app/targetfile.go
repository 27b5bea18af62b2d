// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package app

import (
	"fmt"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/doc"
	"github.com/callvet/callvet/value"
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
          "target_version": {"type": "string", "description": "identifies what is asked, such as a commit of an agent, for gates that are looked at again"},
          "profile": {"type": "string", "description": "names the profile that the settings come from, for reports; it changes nothing"},
          "base_url": {"type": "string"},
          "api_key_env": {"type": "string", "description": "environment variable that holds the key"},
          "system_prompt": {"type": "string", "description": "stands before the suite's"},
          "replace_system": {"type": "boolean", "description": "whether it stands in place of the suite's"},
          "default_temperature": {"type": ["number", "null"], "description": "sent where params has no temperature and the model takes it; 0 when absent, null: the provider's own"},
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
          "agent": {"type": "object", "additionalProperties": {"type": "string"}, "description": "preset: how an agent of a protocol is asked; where input and output stand: input, session, history, system, tools, stubs, text, calls, name, args, result, error"},
          "body": {"type": "object", "description": "what is sent to an HTTP agent, next to the input or around it"},
          "exec_env": {"type": "array", "items": {"type": "string"}, "description": "variables that an exec: agent may see although they are named like secrets"},
          "concurrency": {"type": "integer", "minimum": 1},
          "rate": {"type": "number", "minimum": 0, "description": "requests per second"}
        }
      }
    }
  }
}
`

// readTargets reads a targets file; missing fields of an entry are taken from shared.
func (a *App) readTargets(name string, shared TargetSpec) ([]TargetSpec, error) {
	b, err := a.Read(name, MaxSettings)
	if err != nil {
		return nil, fmt.Errorf("read targets: %w", err)
	}
	var document struct {
		Targets []TargetSpec `json:"targets" form:"required"`
	}
	file, err := doc.Decode(name, b, &document)
	if err == nil && len(document.Targets) == 0 {
		err = fmt.Errorf("%s: a list under the key targets is needed", name)
	}
	if err != nil {
		return nil, &callvet.Hinted{
			Err:  fmt.Errorf("read targets: %w: %w", callvet.ErrInvalid, err),
			Hint: "callvet schema targets",
		}
	}
	return over(file.JSON(), shared)
}

// over returns the entries of a valid targets file, each on top of the shared settings.
func over(js []byte, shared TargetSpec) ([]TargetSpec, error) {
	v, err := value.Parse(js)
	if err != nil {
		return nil, fmt.Errorf("read targets: %w", err)
	}
	var out []TargetSpec
	list, _ := v.Get("targets")
	for e, ok := list.First(); ok; e, ok = list.Next(e) {
		one := shared
		one.Params.Extra = nil
		if w := doc.Fill(e, &one); w != nil {
			return nil, fmt.Errorf("read targets: %w", w)
		}
		if t, given := e.Get("default_temperature"); given && t.Kind() == value.Null {
			one.DefaultTemperature = nil
		}
		out = append(out, one)
	}
	return out, nil
}
