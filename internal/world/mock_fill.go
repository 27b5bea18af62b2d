// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package world

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

// filled is a template's result for one call.
func (m *mocks) filled(raw json.RawMessage, call *callvet.Call, args value.Value) (json.RawMessage, error) {
	out, err := value.FillJSON(raw, func(name string) json.RawMessage {
		if path, ok := strings.CutPrefix(name, value.TemplateArgs); ok {
			return value.AtPath(args, path).Raw()
		}
		if slot, ok := strings.CutPrefix(name, value.TemplateFault); ok { // for a fault or an attack to fill
			return value.Quote("{{" + slot + "}}")
		}
		switch name {
		case value.TemplateCallNumber:
			return strconv.AppendInt(nil, int64(m.calls[strings.ToLower(call.Tool)]), 10)
		case value.TemplateCallPosition:
			return strconv.AppendInt(nil, int64(m.position), 10)
		case value.TemplateTool:
			return value.Quote(call.Tool)
		}
		return m.fake(name, call)
	})
	if err != nil {
		return nil, fmt.Errorf("fill the template of a mock of %s: %w: %w", call.Tool, callvet.ErrInvalid, err)
	}
	return out, nil
}

// fake is an invented identifier. Without a label it depends on the call: the tool, its arguments
// and its position in the attempt; with a label it is the same everywhere. It does not depend on
// the case's name or the run's seed, so that a reused answer equals a new one.
func (m *mocks) fake(name string, call *callvet.Call) json.RawMessage {
	h := sha256.New()
	kind, label, labelled := name, "", false
	for _, k := range [...]string{value.TemplateFakeID, value.TemplateFakeUUID, value.TemplateFakeNumber} {
		if l, ok := strings.CutPrefix(name, k+"."); ok {
			kind, label, labelled = k, l, true
		}
	}
	if labelled {
		_, _ = fmt.Fprintf(h, "label\n%s", label) // a hash accepts everything
	} else {
		_, _ = fmt.Fprintf(h, "call\n%s\n%d\n%s", strings.ToLower(call.Tool), m.position, call.Args)
	}
	sum := h.Sum(nil)
	const versionBits, variantBits = 0x40, 0x80
	switch kind {
	case value.TemplateFakeUUID:
		sum[6] = sum[6]&0x0f | versionBits
		sum[8] = sum[8]&0x3f | variantBits
		x := hex.EncodeToString(sum[:16])
		return value.Quote(x[:8] + "-" + x[8:12] + "-" + x[12:16] + "-" + x[16:20] + "-" + x[20:])
	case value.TemplateFakeNumber:
		const digits = 1e8
		return value.Quote(fmt.Sprintf("%08d", binary.BigEndian.Uint64(sum)%digits))
	default:
		return value.Quote(hex.EncodeToString(sum[:6]))
	}
}

// state is the state of an attempt: words with values that replies set.
type state map[string]*held

// held is the value of a word, for left further calls; 0: permanently.
type held struct {
	callvet.MockState
	left int
}

// holds counts the words that a mock requires, or is -1 where one has a different value.
func (s state) holds(when map[string]string) int {
	for word, want := range when {
		if s.value(word) != want {
			return -1
		}
	}
	return len(when)
}

func (s state) value(word string) string {
	if h := s[word]; h != nil {
		return h.Value
	}
	return ""
}

// pass counts a call: values for a limited number of calls may end.
func (s state) pass() {
	for _, h := range s {
		if h.Calls == 0 {
			continue
		}
		if h.left == 0 {
			h.MockState = callvet.MockState{Value: h.Then}
			continue
		}
		h.left--
	}
}

func (s state) set(changes map[string]callvet.MockState) {
	for word, to := range changes {
		s[word] = &held{MockState: to, left: to.Calls}
	}
}
