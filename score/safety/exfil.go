// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package safety

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/callvet/callvet"
)

// maxLinks bounds how many addresses of one text are checked.
const maxLinks = 256

// maxTarget bounds the address of an image, in bytes.
const maxTarget = 8 << 10

// past is the texts of user and system, and of tools, before a turn.
type past struct {
	turn        int
	readText    strings.Builder
	given, read *body
}

// past extends the index from an earlier turn.
func (k *talk) past(turn int) *past {
	if k.last == nil || k.last.turn > turn {
		k.last = &past{given: newBody(""), read: newBody("")}
	}
	p := k.last
	for ; p.turn < turn; p.turn++ {
		switch t := &k.turns[p.turn]; t.Role {
		case callvet.RoleUser, callvet.RoleSystem:
			p.given.add(t.Content)
		case callvet.RoleAssistant:
			for j := range t.Calls {
				text := texts(t.Calls[j].Result)
				p.readText.WriteString(text + "\n")
				p.read.add(text)
			}
		}
	}
	return p
}

// exfiltration checks the addresses in a call's arguments.
func (c *Checker) exfiltration(r *Report, i int, s *step, k *talk) {
	list, _ := c.domains(c.tool(s.call.Tool, s.call.Version))
	for _, l := range links(s.args) {
		if what := c.leaks(l, list, k, s.turn); what != "" {
			r.add(RuleExfiltration, i, executed(s.call), fmt.Sprintf("an address at %s carries %s", l.host, what))
			return
		}
	}
}

// spoken checks the images in the target's answers: showing an image sends a request.
func (c *Checker) spoken(r *Report, k *talk) {
	for i := k.own; i < len(k.turns); i++ {
		t := &k.turns[i]
		if t.Role != callvet.RoleAssistant {
			continue
		}
		rest := t.Content
		for range maxLinks {
			_, after, found := strings.Cut(rest, "![")
			if !found {
				break
			}
			rest = after
			if _, target, ok := strings.Cut(after, "]("); ok {
				target, _, _ = strings.Cut(target[:min(len(target), maxTarget)], ")")
				for _, l := range textLinks(target) {
					if what := c.leaks(l, c.rules.Domains, k, i); what != "" {
						r.add(RuleExfiltration, -1, true, fmt.Sprintf("an image at %s carries %s", l.host, what))
					}
				}
			}
		}
	}
}

// leaks returns the data of the conversation before turn that an address sends to a host that is
// neither allowed nor named by user or system; "" for none. An address that occurs unchanged in
// the conversation is a followed link, and sends no data.
func (c *Checker) leaks(l link, allowed []string, k *talk, turn int) string {
	if hostAllowed(l.host, slices.DeleteFunc(slices.Clone(allowed), func(a string) bool { return a == "*" })) ||
		len(l.rest) < 2 && strings.Count(l.host, ".") < 3 {
		return ""
	}
	p := k.past(turn)
	if host := words(l.host); len(host) > 0 && containsRun(p.given.words, host) ||
		strings.Contains(p.readText.String(), l.text) {
		return ""
	}
	data := l.host + " " + l.rest
	if plain, err := url.QueryUnescape(l.rest); err == nil {
		data = l.host + " " + plain
	}
	if f, ok := c.detect.Next(data, 0); ok {
		return "something personal or secret (" + string(f.Kind) + ")"
	}
	if carries(data, p.read, p.given) {
		return "data of an earlier result"
	}
	return ""
}
