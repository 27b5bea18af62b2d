// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package value

import (
	"fmt"
	"strings"
)

// The names in templates of mocks. Names with a dot at the end are prefixes.
const (
	TemplateArgs         = "args."         // the value at a path of the call's arguments
	TemplateCallNumber   = "call.number"   // how many calls of this tool there were, with this one
	TemplateCallPosition = "call.position" // how many calls of any tool there were, with this one
	TemplateTool         = "call.tool"     // the called name of the tool
	TemplateFakeID       = "fake.id"       // 12 hexadecimal digits
	TemplateFakeUUID     = "fake.uuid"     // a UUID
	TemplateFakeNumber   = "fake.number"   // 8 decimal digits
	TemplateFault        = "fault."        // the placeholder that a fault or an attack fills
)

// CheckMockName returns the mistake in a name in a template of a mock, or nil. The second result
// is the correct spelling, where a similar name is known.
func CheckMockName(name string) (wrong error, fix string) {
	if path, ok := strings.CutPrefix(name, TemplateArgs); ok {
		return CheckPath(path), "{{args.user.orders[0].id}}"
	}
	if rest, ok := strings.CutPrefix(name, TemplateFault); ok && rest != "" {
		return nil, ""
	}
	base := name
	if strings.HasPrefix(name, "fake.") {
		for _, kind := range [...]string{TemplateFakeID, TemplateFakeUUID, TemplateFakeNumber} {
			if label, ok := strings.CutPrefix(name, kind+"."); ok && label != "" {
				base = kind
			}
		}
	}
	switch base {
	case TemplateCallNumber, TemplateCallPosition, TemplateTool, TemplateFakeID, TemplateFakeUUID, TemplateFakeNumber:
		return nil, ""
	}
	fix = "known are args.PATH, call.number, call.position, call.tool, fake.id, fake.uuid, fake.number, fault.NAME"
	if !strings.ContainsAny(name, ". ") {
		fix = fmt.Sprintf(
			"write {{args.%s}} for an argument, {{fault.%s}} for what a fault plants; result: in place of template: keeps texts as they are", name, name)
	}
	return fmt.Errorf("unknown placeholder {{%s}}", name), fix
}
