// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package message

import (
	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

func isAnthropic(v value.Value) bool { return isList(v, "content", "type") }

func (d *decoder) anthropic(v value.Value) {
	t := d.answer(v)
	t.Role = callvet.RoleAssistant
	d.resp.Turns = append(d.resp.Turns, t)
	d.fromText()
}
