// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package step

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

// safety is a compiled Safety.
type safety struct {
	any       bool            // a rule that applies to every tool
	allowed   map[string]bool // nil: every tool
	forbidden map[string]bool
	domains   []string
	limited   bool // domains are a rule, even when there are none
	readOnly  bool
}

func newSafety(cfg Safety) safety {
	s := safety{readOnly: cfg.ReadOnly, domains: hosts(cfg.AllowedDomains), limited: cfg.AllowedDomains != nil}
	if cfg.AllowedTools != nil {
		s.allowed = names(cfg.AllowedTools)
	}
	s.forbidden = names(cfg.ForbiddenTools)
	s.any = s.readOnly || s.limited || s.allowed != nil || len(s.forbidden) > 0
	return s
}

func names(list []string) map[string]bool {
	m := make(map[string]bool, len(list))
	for _, name := range list {
		m[strings.ToLower(name)] = true
	}
	return m
}

func hosts(list []string) []string {
	out := make([]string, len(list))
	for i, d := range list {
		out[i] = strings.TrimPrefix(strings.TrimPrefix(strings.ToLower(strings.TrimSuffix(d, ".")), "*"), ".")
	}
	return out
}

// broken says which rule every call of the tool breaks; "" for none.
func (s *safety) broken(e *contracted) string {
	name := strings.ToLower(e.name)
	switch {
	case s.forbidden[name]:
		return fmt.Sprintf("tool %s is forbidden", e.name)
	case s.allowed != nil && !s.allowed[name]:
		return fmt.Sprintf("tool %s is not on the list of allowed tools", e.name)
	case s.readOnly && e.tool != nil && e.tool.ReadOnly != nil && !*e.tool.ReadOnly:
		return fmt.Sprintf("tool %s changes something (read_only: false), and nothing may be changed", e.name)
	}
	return ""
}

// safe applies the rules.
func (s *Scorer) safe(t *contracted, in *Input, args value.Value, out *callvet.StepScore) {
	sh := s.shared
	safe, known := true, sh.safety.any || t.domains != nil
	if !known && sh.more == nil {
		return
	}
	if known {
		safe = t.broken == "" && (args.Kind() == value.Invalid || sh.safety.stray(t, args) == nil)
	}
	if sh.more != nil {
		if ok, tells := sh.more(in); tells {
			safe, known = safe && ok, true
		}
	}
	if known {
		out.Set(callvet.StepSafe, safe)
	}
}

// stray is a host that arguments name and that is not allowed; nil for none.
func (s *safety) stray(t *contracted, args value.Value) []byte {
	if t.domains == nil && !s.limited || !maybeURL(args.Raw()) {
		return nil
	}
	if t.domains != nil {
		return strayIn(args, t.domains)
	}
	return strayIn(args, s.domains)
}

// maybeURL reports whether a text of JSON can hold a URL.
func maybeURL(raw []byte) bool {
	return bytes.Contains(raw, []byte("//")) || bytes.Contains(raw, []byte(`\/`)) || bytes.Contains(raw, []byte(`\u00`)) || bytes.Contains(raw, []byte(`\\`))
}

func strayIn(v value.Value, domains []string) []byte {
	if v.Kind() == value.String {
		return strayHost(v.Bytes(), domains)
	}
	for e, ok := v.First(); ok; e, ok = v.Next(e) {
		if host := strayIn(e, domains); host != nil {
			return host
		}
	}
	return nil
}

// strayHost looks at every "//" of a text that a URL can have: at its beginning
// or after a scheme. Browsers read a backslash as a slash, so does this.
func strayHost(text []byte, domains []string) []byte {
	slash := func(c byte) bool { return c == '/' || c == '\\' }
	for i := 0; i+1 < len(text); i++ {
		if !slash(text[i]) || !slash(text[i+1]) || i > 0 && text[i-1] != ':' {
			continue
		}
		rest := text[i+2:]
		if end := bytes.IndexAny(rest, "/\\?# \t\r\n\"'<>"); end >= 0 {
			rest = rest[:end]
		}
		if at := bytes.LastIndexByte(rest, '@'); at >= 0 {
			rest = rest[at+1:]
		}
		if port := bytes.LastIndexByte(rest, ':'); port >= 0 && !bytes.HasSuffix(rest, []byte("]")) {
			rest = rest[:port]
		}
		host := bytes.ToLower(bytes.TrimSuffix(rest, []byte(".")))
		if len(host) > 0 && !allowedHost(host, domains) {
			return host
		}
	}
	return nil
}

func allowedHost(host []byte, domains []string) bool {
	for _, d := range domains {
		if n := len(host) - len(d); n >= 0 && string(host[n:]) == d && (n == 0 || host[n-1] == '.') {
			return true
		}
	}
	return false
}
