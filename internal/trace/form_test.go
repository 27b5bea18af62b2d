// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package trace

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/callvet/callvet"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// candidates are put in the place of every member that the schema has.
var candidates = []string{
	`null`, `true`, `0`, `1`, `-1`, `1.5`, `2.0`, `1e300`, `""`, `"x"`, `"ok"`, `"called"`, `"assistant"`, `"test"`,
	`[]`, `[null]`, `["a"]`, `[1]`, `[{}]`, `{}`,
	`{"name":"jj"}`, `{"a":null}`, `{"a":1}`, `{"a":"b"}`,
}

// TestFormsAgreeWithSchema puts a value of each kind in the place of every member of the
// published schema: the schema and the reader must agree about the line. The reader's message
// names the member and no type of Go.
func TestFormsAgreeWithSchema(t *testing.T) {
	t.Parallel()
	var doc struct {
		Defs map[string]map[string]any `json:"$defs"`
	}
	if err := json.Unmarshal(Schema(), &doc); err != nil {
		t.Fatal(err)
	}
	published := compiled(t)
	tried := 0
	for _, kind := range []string{"step", "task"} {
		base := map[string]any{"task_id": "t"}
		if kind == "task" {
			base["type"] = "task"
		} else {
			base["tool"] = "x"
		}
		for _, p := range members(doc.Defs, doc.Defs[kind], nil) {
			if p[0] == "fields" && len(p) > 1 || p[len(p)-1] == "type" || p[len(p)-1] == "started" {
				continue // any name; "type" makes it another record; a format is not a kind
			}
			for _, c := range candidates {
				tried++
				line := with(t, base, doc.Defs, kind, p, c)
				v, err := jsonschema.UnmarshalJSON(strings.NewReader(line))
				if err != nil {
					t.Fatal(err)
				}
				got := published.Validate(v)
				_, _, read := readAll(t, line, Options{Strict: true})
				if (got == nil) != (read == nil) {
					t.Errorf("%s: the schema says %v, the reader %v", line, got, read)
				}
				if read != nil && (!strings.Contains(read.Error(), strings.Join(p[:1], "")) ||
					strings.Contains(read.Error(), "Go ")) {
					t.Errorf("%s: %v", line, read)
				}
			}
		}
	}
	if tried < 60*len(candidates) {
		t.Errorf("only %d lines were tried", tried)
	}
}

// TestSchemaHasEveryKey holds that the schema names all that a record can have.
func TestSchemaHasEveryKey(t *testing.T) {
	t.Parallel()
	var doc struct {
		Defs map[string]struct {
			Properties map[string]any `json:"properties"`
		} `json:"$defs"`
	}
	if err := json.Unmarshal(Schema(), &doc); err != nil {
		t.Fatal(err)
	}
	for def, of := range map[string]reflect.Type{
		"task": reflect.TypeFor[Task](), "scored": reflect.TypeFor[Scored](),
		"decision": reflect.TypeFor[callvet.Decision](),
	} {
		for i := range of.NumField() {
			key, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ",")
			if key != "-" && doc.Defs[def].Properties[key] == nil {
				t.Errorf("the schema of %s does not have %q", def, key)
			}
		}
	}
}

// members lists the paths of all members below a schema; "[]" steps into a list.
func members(defs map[string]map[string]any, at map[string]any, above []string) (out [][]string) {
	at = resolve(defs, at)
	if items, ok := at["items"].(map[string]any); ok {
		return members(defs, items, append(slices.Clone(above), "[]"))
	}
	props, _ := at["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(props)) {
		p := append(slices.Clone(above), name)
		out = append(out, p)
		below, _ := props[name].(map[string]any)
		out = append(out, members(defs, below, p)...)
	}
	return out
}

func resolve(defs map[string]map[string]any, at map[string]any) map[string]any {
	if ref, ok := at["$ref"].(string); ok {
		return defs[strings.TrimPrefix(ref, "#/$defs/")]
	}
	return at
}

// with writes a line in which the member at a path has a value, and every object on
// the way what it requires.
func with(t *testing.T, base map[string]any, defs map[string]map[string]any, kind string, path []string,
	val string,
) string {
	t.Helper()
	var build func(at map[string]any, path []string) any
	build = func(at map[string]any, path []string) any {
		at = resolve(defs, at)
		if len(path) == 0 {
			return json.RawMessage(val)
		}
		if path[0] == "[]" {
			items, _ := at["items"].(map[string]any)
			return []any{build(items, path[1:])}
		}
		out := map[string]any{}
		props, _ := at["properties"].(map[string]any)
		required, _ := at["required"].([]any)
		for _, r := range required {
			name := fmt.Sprint(r)
			out[name] = map[string]any{"pass": true, "role": "user"}[name]
			if out[name] == nil {
				out[name] = "a"
			}
		}
		below, _ := props[path[0]].(map[string]any)
		out[path[0]] = build(below, path[1:])
		return out
	}
	top, _ := build(defs[kind], path).(map[string]any)
	for k, v := range base {
		if path[0] != k {
			top[k] = v
		}
	}
	b, err := json.Marshal(top)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestJudgedShapes: the mistake in a verdict is reported by its key, and the name that may have
// been meant.
func TestJudgedShapes(t *testing.T) {
	t.Parallel()
	for judged, want := range map[string]string{
		`[{"judge":{"name":"jj"},"pass":true}]`:       `f.jsonl:1: "judged[0].judge" is an object, not a string`,
		`[{"judge":"jj"},{"jugde":"kk","pass":true}]`: `f.jsonl:1: "judged[1].judge" is missing, and there is "judged[1].jugde" (did you mean "judge"?)`,
		`{"judge":"jj","pass":true}`:                  `f.jsonl:1: "judged" is an object, not an array`,
		`[{"judge":"jj","pass":"yes"}]`:               `f.jsonl:1: "judged[0].pass" is a string, not a boolean`,
		`[{"judge":"","pass":true}]`:                  `f.jsonl:1: "judged[0].judge" is empty`,
		`[{"judge":"jj","params":{"seed":"1"}}]`:      `f.jsonl:1: "judged[0].params.seed" is a string, not a number`,
		`[{"judge":"jj","modle":"m","pass":true}]`:    `f.jsonl:1: unknown key "judged.modle", first here, on 1 lines (did you mean "judged.model"?)`,
	} {
		_, log, err := readAll(t, `{"type":"task","task_id":"t","judged":`+judged+`}`, Options{})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, p := range log.Problems("f.jsonl") {
			got = append(got, p.Error())
		}
		if len(got) != 1 || got[0] != want {
			t.Errorf("%s:\n got %q\nwant %q", judged, got, want)
		}
	}
}
