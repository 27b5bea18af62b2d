// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package provider

import "github.com/callvet/callvet"

// turnWriter writes the messages of an API with separate system texts that requires adjacent tool
// results in one message.
type turnWriter interface {
	user(b []byte, t *callvet.Turn) []byte
	assistant(b []byte, t *callvet.Turn) []byte
	results(b []byte, turns []callvet.Turn) []byte
}

// appendTurns appends a conversation as a JSON array.
func appendTurns(b []byte, turns []callvet.Turn, w turnWriter) []byte {
	b = append(b, '[')
	for i := 0; i < len(turns); i++ {
		switch t := &turns[i]; t.Role {
		case callvet.RoleSystem:
			continue
		case callvet.RoleTool:
			n := toolRun(turns[i:])
			b = w.results(b, turns[i:i+n])
			i += n - 1
		case callvet.RoleAssistant:
			if t.Content == "" && len(t.Calls) == 0 && len(t.Raw) == 0 {
				continue // a message without content is refused
			}
			b = w.assistant(b, t)
		default:
			b = w.user(b, t)
		}
		b = append(b, ',')
	}
	if b[len(b)-1] == ',' {
		b = b[:len(b)-1]
	}
	return append(b, ']')
}

// toolRun is the number of consecutive tool results at the start of turns.
func toolRun(turns []callvet.Turn) int {
	n := 0
	for n < len(turns) && turns[n].Role == callvet.RoleTool {
		n++
	}
	return n
}
