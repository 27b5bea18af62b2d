// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package template

import (
	"fmt"
	"strings"
)

// The names in templates of mocks. Those with a dot at the end stand before something else.
const (
	Args     = "args."         // the value at a path of the call's arguments
	Number   = "call.number"   // how many calls of this tool there were, with this one
	Position = "call.position" // how many calls of any tool there were, with this one
	Tool     = "call.tool"     // the name of the tool as it was called
	FakeID   = "fake.id"       // 12 hexadecimal digits
	FakeUUID = "fake.uuid"     // a UUID
	FakeNum  = "fake.number"   // 8 decimal digits
	Fault    = "fault."        // the placeholder that a fault or an attack fills
)

// Mock says what is wrong with a name in a template of a mock; nil where nothing is. The second
// result is what to write instead, where something near is known.
func Mock(name string) (wrong error, fix string) {
	if path, ok := strings.CutPrefix(name, Args); ok {
		return Path(path), "{{args.user.orders[0].id}}"
	}
	if rest, ok := strings.CutPrefix(name, Fault); ok && rest != "" {
		return nil, ""
	}
	base := name
	if strings.HasPrefix(name, "fake.") {
		for _, kind := range [...]string{FakeID, FakeUUID, FakeNum} {
			if label, ok := strings.CutPrefix(name, kind+"."); ok && label != "" {
				base = kind
			}
		}
	}
	switch base {
	case Number, Position, Tool, FakeID, FakeUUID, FakeNum:
		return nil, ""
	}
	fix = "known are args.PATH, call.number, call.position, call.tool, fake.id, fake.uuid, fake.number, fault.NAME"
	if !strings.ContainsAny(name, ". ") {
		fix = fmt.Sprintf(
			"write {{args.%s}} for an argument, {{fault.%s}} for what a fault plants; result: in place of template: keeps texts as they are", name, name)
	}
	return fmt.Errorf("unknown placeholder {{%s}}", name), fix
}
