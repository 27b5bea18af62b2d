// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package safety

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

// contract checks one call against allowlists, its tool's contract and the mode.
func (c *Checker) contract(r *Report, i int, s *step, tool *callvet.Tool) {
	call := s.call
	ran := executed(call)
	c.honeypot(r, i, s)
	if c.allowed != nil && !c.allowed[fold(call.Tool)] {
		r.add(RuleTool, i, ran, fmt.Sprintf("%s is not in the allowlist of tools", call.Tool))
		if like := c.looks[look(call.Tool)]; like != "" {
			r.add(RuleLookalike, i, ran, fmt.Sprintf("%s looks like %s and is not that tool", call.Tool, like))
		}
	}
	if n := len(s.args.Raw()); c.rules.MaxArgumentBytes > 0 && n > c.rules.MaxArgumentBytes {
		r.add(RuleLargeArgs, i, ran,
			fmt.Sprintf("the arguments of %s take %d bytes, and at most %d are allowed", call.Tool, n,
				c.rules.MaxArgumentBytes))
	}
	c.undeclared(r, call, tool)
	if c.rules.ReadOnly && c.mutating(tool) {
		r.add(RuleReadOnly, i, ran, fmt.Sprintf("%s changes things and was called in read-only mode", call.Tool))
	}
	if c.denies(tool) {
		if found := c.detect.Value(s.args); len(found) > 0 {
			var at []string
			for _, f := range found {
				at = append(at, strings.TrimPrefix(f.Path+" ("+string(f.Kind)+")", " "))
			}
			r.add(RulePII, i, ran, fmt.Sprintf("%s takes no personal data or secrets, but was given some: %s",
				call.Tool, strings.Join(at, ", ")))
		}
	}
	c.hosts(r, i, s, tool)
}

// hosts checks the addresses in a call against the allowlist of domains and against private
// networks.
func (c *Checker) hosts(r *Report, i int, s *step, tool *callvet.Tool) {
	allowed, listed := c.domains(tool)
	if !listed && !c.rules.DenyPrivate {
		return
	}
	seen := map[string]bool{}
	for _, l := range links(s.args) {
		if seen[l.host] {
			continue
		}
		seen[l.host] = true
		if listed && !hostAllowed(l.host, allowed) {
			r.add(RuleDomain, i, executed(s.call),
				fmt.Sprintf("%s was sent to %s, which is not in its allowlist of domains", s.call.Tool, l.host))
		}
		if why := c.private(l.host); c.rules.DenyPrivate && why != "" {
			r.add(RulePrivate, i, executed(s.call),
				fmt.Sprintf("%s was sent to %s, which is %s", s.call.Tool, l.host, why))
		}
	}
}

// undeclared notes a call that may have changed something: nothing declares whether its tool
// makes changes.
func (c *Checker) undeclared(r *Report, call *callvet.Call, t *callvet.Tool) {
	asked := c.rules.ReadOnly || c.rules.ConfirmWrites && (t == nil || t.Safety == nil || !t.Safety.RequireConfirmation)
	if asked && !c.rules.UndeclaredWrites && (t == nil || t.ReadOnly == nil) &&
		!slices.Contains(r.Undeclared, call.Tool) {
		r.Undeclared = append(r.Undeclared, call.Tool)
	}
}

// mutating is the declaration of the contract. A tool without a declaration counts as mutating if
// the rules require this.
func (c *Checker) mutating(t *callvet.Tool) bool {
	if t == nil || t.ReadOnly == nil {
		return c.rules.UndeclaredWrites
	}
	return !*t.ReadOnly
}

// denies reports whether the tool must not receive personal data: its safety constraints do not
// allow it, or it has no such constraint and the rules deny it.
func (c *Checker) denies(t *callvet.Tool) bool {
	if t == nil || t.Safety == nil {
		return c.rules.DenyPII
	}
	return !t.Safety.PIIAllowed
}

// domains returns the allowlist in force; ok is false when there is none.
func (c *Checker) domains(t *callvet.Tool) (list []string, ok bool) {
	if t != nil && t.Safety != nil && t.Safety.Domains != nil {
		return t.Safety.Domains, true
	}
	return c.rules.Domains, c.rules.Domains != nil
}

// link is an address in an argument: as written, its host, and the text after the host.
type link struct {
	text, host, rest string
}

// links are the addresses in every string of v: texts with a scheme or starting with www, and
// whole values of members with a name for an address.
func links(v value.Value) []link { return appendLinks(nil, v, "") }

func appendLinks(out []link, v value.Value, key string) []link {
	for e, ok := v.First(); ok; e, ok = v.Next(e) {
		name := key
		if v.Kind() == value.Object {
			name = e.Key()
		}
		out = appendLinks(out, e, name)
	}
	if v.Kind() != value.String || !bytes.ContainsAny(v.Bytes(), ".:") {
		return out
	}
	s := v.Str()
	found := textLinks(s)
	bare := strings.TrimLeft(s, `/\`) // "//host" has the scheme of its page
	if len(found) == 0 && (len(s)-len(bare) >= 2 || addressName(key) && !strings.ContainsAny(s, "@")) &&
		strings.Contains(s, ".") && !strings.ContainsAny(s, " \n") {
		if l, ok := parseLink(s, bare); ok {
			found = append(found, l)
		}
	}
	return append(out, found...)
}

func addressName(key string) bool {
	key = strings.ToLower(key)
	for _, w := range [...]string{"url", "uri", "link", "website", "webpage", "domain", "host", "endpoint"} {
		if strings.HasSuffix(key, w) {
			return true
		}
	}
	return false
}

// textLinks finds addresses in running text, at most maxLinks.
func textLinks(s string) []link {
	var out []link
	low := lower(s)
	scheme, www := next(low, "://", 0), next(low, "www.", 0)
	for end := 0; len(out) < maxLinks && min(scheme, www) < len(s); {
		from := min(scheme, www)
		host := from
		if strings.HasPrefix(low[from:], "://") {
			from, host = schemeStart(low, end, from), from+len("://")
		}
		end = host + strings.IndexAny(s[host:]+" ", " \t\r\n\"'<>`|^")
		text := strings.TrimRight(s[from:end], ".,;:!?)]}")
		if l, ok := parseLink(text, text[min(host-from, len(text)):]); ok {
			out = append(out, l)
		}
		scheme, www = next(low, "://", max(scheme, end)), next(low, "www.", max(www, end))
	}
	return out
}

// lower folds ASCII letters and, as browsers do, reads a backslash as a slash; it
// leaves every byte where it is.
func lower(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		} else if c == '\\' {
			b[i] = '/'
		}
	}
	return string(b)
}

// next is where part begins at i or later; len(s) when it does not.
func next(s, part string, i int) int {
	before, _, _ := strings.Cut(s[i:], part)
	return i + len(before)
}

// schemeStart walks back from :// over the scheme's letters, not before least.
func schemeStart(s string, least, at int) int {
	for at > least && s[at-1] >= 'a' && s[at-1] <= 'z' {
		at--
	}
	return at
}

// parseLink reads host and rest as a browser would: user information before an @
// is not the host, a backslash is a slash, case and a final dot do not matter.
func parseLink(text, s string) (link, bool) {
	authority, rest := s, ""
	if i := strings.IndexAny(s, `/\?#`); i >= 0 {
		authority, rest = s[:i], s[i:]
	}
	host := authority[strings.LastIndexByte(authority, '@')+1:]
	if !strings.HasPrefix(host, "[") {
		if i := strings.IndexByte(host, ':'); i >= 0 {
			host = host[:i]
		}
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	return link{text, host, rest}, host != ""
}

// hostAllowed reports whether the host is one of the list's or below one; "*" is any.
func hostAllowed(host string, list []string) bool {
	for _, a := range list {
		if a == "*" {
			return true
		}
		if _, after, ok := strings.Cut(a, "://"); ok {
			a = after
		}
		l, ok := parseLink(a, strings.TrimPrefix(a, "*."))
		if ok && (host == l.host || strings.HasSuffix(host, "."+l.host)) {
			return true
		}
	}
	return false
}
