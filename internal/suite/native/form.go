// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package native

import (
	_ "embed"
	"reflect"
	"sync"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/doc"
)

//go:embed schema/suite.schema.json
var suiteSchema string

// forms are the forms that code uses, by name; "" is the whole.
var forms = sync.OnceValue(func() map[string]*doc.Shape {
	return doc.Format{
		Schema: []byte(suiteSchema),
		Types: map[string]reflect.Type{
			"":            reflect.TypeFor[callvet.Suite](),
			"tool":        reflect.TypeFor[callvet.Tool](),
			"defaults":    reflect.TypeFor[callvet.Defaults](),
			"labels":      reflect.TypeFor[map[string]string](),
			"mocks":       reflect.TypeFor[[]callvet.Mock](),
			"reply":       reflect.TypeFor[callvet.MockReply](),
			"faults":      reflect.TypeFor[[]callvet.ToolFault](),
			"case":        reflect.TypeFor[callvet.Case](),
			"message":     reflect.TypeFor[callvet.Turn](),
			"multiTurn":   reflect.TypeFor[callvet.MultiTurn](),
			"plan":        reflect.TypeFor[callvet.Plan](),
			"scoring":     reflect.TypeFor[callvet.Scoring](),
			"matcherForm": reflect.TypeFor[callvet.Matcher](),
		},
		Flat:  []string{"function", "toolSpec", "annotations", "response", "weights"},
		Other: otherName,
	}.Shapes()
})

// otherName is the json tag of the field for a key with a name of its own; "" when there is none.
func otherName(above, key string) string {
	switch above + "." + key {
	case "weights.tool":
		return "tool_weight"
	case "weights.args":
		return "args_weight"
	}
	switch key {
	case "tool_calls":
		return "calls"
	case "tool_call_id":
		return "call_id"
	case "name":
		return "tool"
	case "tool":
		return "tools"
	case "params":
		return "matchers"
	case "readOnlyHint":
		return "read_only"
	case "idempotentHint":
		return "idempotent"
	}
	return ""
}
