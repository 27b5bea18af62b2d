// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package labelled

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

// The kinds of mutants: each is a right attempt with one mistake.
const (
	dropped   = "a call is left out"
	swapped   = "another tool is called"
	changed   = "an argument has another value"
	omitted   = "an argument is left out"
	added     = "something is changed that the user did not ask for"
	needless  = "a tool is called where none is needed"
	repeated  = "a call is made once more"
	reordered = "a call is made before the one that it needs"
	silent    = "the answer is missing"
	leaked    = "personal data are put into a search"
	strayed   = "a stranger's page is opened"
)

// kind is the kind of mistake in an attempt.
type kind struct {
	name string
	// least is the least number of such attempts in the set.
	least int
	// classes are the right error classes of such an attempt.
	classes []callvet.Class
}

func kinds() []kind {
	classes := func(list ...callvet.Class) []callvet.Class { return list }
	return []kind{
		// of two equal calls the other is compared then
		{dropped, 144, classes(callvet.ClassMissedCall, callvet.ClassIncomplete, callvet.ClassWrongArgs)},
		{swapped, 138, classes(callvet.ClassWrongTool, callvet.ClassUnneededCall)},
		{changed, 314, classes(callvet.ClassWrongArgs, callvet.ClassUnknownArg, callvet.ClassContract)},
		{omitted, 309, classes(callvet.ClassContract, callvet.ClassWrongArgs)},
		// if another plan has the same number of calls
		{added, 172, classes(callvet.ClassUnneededCall, callvet.ClassWrongTool)},
		{needless, 53, classes(callvet.ClassUnneededCall)},
		{repeated, 152, classes(callvet.ClassLoop, callvet.ClassWrongArgs)},
		{reordered, 16, classes(callvet.ClassWrongOrder)},
		{silent, 172, classes(callvet.ClassAnswer, callvet.ClassUnparseable)},
		{leaked, 4, classes(callvet.ClassUnneededCall)},
		{strayed, 2, classes(callvet.ClassUnneededCall)},
	}
}

// of returns the kind with a name.
func of(name string) kind {
	list := kinds()
	return list[slices.IndexFunc(list, func(k kind) bool { return k.name == name })]
}

// mutants returns the wrong attempts made from one right attempt of a plan, without those that another
// plan of the task allows.
func (s *set) mutants(a *attempt, p *callvet.Plan) (out []attempt) {
	calls, expected := a.calls(), required(p)
	rights := right(a.task)
	take := func(m attempt) {
		if !slices.ContainsFunc(rights, func(r attempt) bool { return same(&r, &m) }) {
			out = append(out, m)
		}
	}
	for i := range calls {
		take(a.with(dropped, name(calls, i), without(calls, i)))
		if other, ok := s.donor(a.task, expected[i].Tools, calls[i], rights); ok {
			with := slices.Clone(calls)
			with[i] = other
			take(a.with(swapped, name(calls, i)+" by "+other.Tool, with))
		}
		for _, m := range s.arguments(a, calls, i, expected[i]) {
			take(m)
		}
		if !slices.ContainsFunc(p.Calls, func(c callvet.ExpectedCall) bool { return c.Optional }) {
			take(a.with(repeated, name(calls, i), slices.Insert(slices.Clone(calls), i, calls[i])))
		}
		if i > 0 && !equal(calls[i-1], calls[i]) && len(expected[i].After) > 0 {
			swap := slices.Clone(calls)
			swap[i-1], swap[i] = swap[i], swap[i-1]
			out = append(out, a.with(reordered, name(calls, i), swap))
		}
	}
	for _, c := range s.writes(a.task, calls) {
		take(a.with(added, c.Tool, append(slices.Clone(calls), c)))
	}
	if idle(a.task) {
		for _, c := range s.looks(a.task) {
			out = append(out, a.with(needless, c.Tool, []callvet.Call{c}))
		}
	}
	words := userText(a.task)
	if slices.Contains(a.task.Tags, "personal-data") && personal.MatchString(words) {
		take(a.with(leaked, "", append(slices.Clone(calls),
			callvet.Call{Tool: "search_help", Args: object(map[string]any{"query": words})})))
	}
	if slices.Contains(a.task.Tags, "domain") {
		take(a.with(strayed, "", append(slices.Clone(calls),
			callvet.Call{Tool: "fetch_page", Args: object(map[string]any{"url": address.FindString(words)})})))
	}
	quiet := *a
	quiet.kind, quiet.what, quiet.answer = silent, a.what, ""
	return append(out, quiet)
}

// Texts in tasks with the matching tag: a document's number or an address of mail, and the address
// of a page.
var (
	personal = regexp.MustCompile(`[0-9]{3}\.[0-9]{3}\.[0-9]{3}-[0-9]{2}|@`)
	address  = regexp.MustCompile(`https?://[^ ]+[a-z]`)
)

// name identifies a call of several by its place.
func name(calls []callvet.Call, i int) string { return fmt.Sprintf("%d %s", i+1, calls[i].Tool) }

// required returns the calls of a plan that may not be missing.
func required(p *callvet.Plan) (out []*callvet.ExpectedCall) {
	for i := range p.Calls {
		if !p.Calls[i].Optional {
			out = append(out, &p.Calls[i])
		}
	}
	return out
}

func without(calls []callvet.Call, i int) []callvet.Call {
	return slices.Delete(slices.Clone(calls), i, i+1)
}

// lookAlikes are pairs of tools with the same arguments or similar purposes.
func lookAlikes() map[string]string {
	return map[string]string{
		"get_refund_policy": "get_return_policy", "get_return_policy": "get_refund_policy",
		"request_refund": "cancel_order", "cancel_order": "request_refund",
		"get_order": "list_orders", "list_orders": "get_order", "track_parcel": "get_order",
		"find_store": "search_help", "search_help": "fetch_page", "fetch_page": "search_help",
		"get_balance": "list_transactions", "list_transactions": "list_bills", "list_bills": "list_transactions",
		"pay_bill": "transfer_money", "transfer_money": "pay_bill",
		"search_trips": "get_weather", "book_trip": "book_appointment", "book_appointment": "cancel_appointment",
		"cancel_appointment": "book_appointment",
		"find_appointments":  "list_events", "list_events": "find_appointments", "create_event": "book_appointment",
		"create_ticket": "search_help",
		"get_weather":   "search_trips", "get_exchange_rate": "search_products", "search_products": "search_help",
		"sign_in":    "get_balance",
		"block_card": "get_balance", "change_delivery_address": "get_order",
	}
}

// donor returns a call that replaces another: of a tool that is easily confused with it, with valid
// arguments.
func (s *set) donor(c *callvet.Case, accepted []string, call callvet.Call, rights []attempt) (callvet.Call, bool) {
	tool := lookAlikes()[call.Tool]
	if tool == "" || slices.Contains(accepted, tool) {
		return callvet.Call{}, false
	}
	if a, b := s.tools[tool], s.tools[call.Tool]; string(a.Parameters) == string(b.Parameters) {
		return callvet.Call{Tool: tool, Args: call.Args}, true
	}
	allowed := slices.ContainsFunc(rights, func(r attempt) bool {
		return slices.ContainsFunc(r.calls(), func(o callvet.Call) bool { return o.Tool == tool })
	})
	if allowed {
		return callvet.Call{}, false
	}
	return s.sample(tool, c)
}

// sample returns a call of a tool that another task of the set expects, preferably in the same
// language.
func (s *set) sample(tool string, than *callvet.Case) (found callvet.Call, ok bool) {
	for i := range s.suite.Cases {
		c := &s.suite.Cases[i]
		if c.ID == than.ID || ok && c.Fields["language"] != than.Fields["language"] {
			continue
		}
		for _, a := range right(c) {
			for _, call := range a.calls() {
				if call.Tool == tool {
					if c.Fields["language"] == than.Fields["language"] {
						return call, true
					}
					found, ok = call, true
				}
			}
		}
	}
	return found, ok
}

// writes returns calls that change something without a request in the task: tools that it forbids by
// name, or an entry of the calendar or a ticket.
func (s *set) writes(c *callvet.Case, made []callvet.Call) (out []callvet.Call) {
	for _, tool := range append(slices.Clone(c.Expect.ToolsNotCalled), "create_ticket", "create_event") {
		if !s.mutating(tool) || slices.ContainsFunc(made, func(o callvet.Call) bool { return o.Tool == tool }) {
			continue
		}
		if call, ok := s.sample(tool, c); ok {
			return append(out, call)
		}
	}
	return out
}

// looks returns calls that only read: of the tools that a task without calls forbids, or a search of
// the help with the user's last words.
func (s *set) looks(c *callvet.Case) (out []callvet.Call) {
	for _, tool := range c.Expect.ToolsNotCalled {
		if call, ok := s.sample(tool, c); ok && !s.mutating(tool) {
			out = append(out, call)
		}
	}
	if len(out) == 0 {
		out = append(out, callvet.Call{Tool: "search_help", Args: object(map[string]any{"query": c.Question()})})
	}
	return out
}

func object(members map[string]any) json.RawMessage {
	b, err := json.Marshal(members)
	if err != nil { // texts and raw JSON that was read
		return nil
	}
	return b
}

// arguments returns attempts with a different or missing value of one argument.
// Arguments that the task leaves open are not changed.
func (s *set) arguments(a *attempt, calls []callvet.Call, i int, e *callvet.ExpectedCall) (out []attempt) {
	args, err := value.Parse(calls[i].Args)
	if err != nil {
		return nil
	}
	for v, ok := args.First(); ok; v, ok = args.Next(v) {
		key := v.Key()
		m, matched := e.Matchers[key]
		if matched && m.Mode == "type" {
			continue
		}
		with := func(kind, what string, val json.RawMessage) {
			members := map[string]any{}
			for o, ok := args.First(); ok; o, ok = args.Next(o) {
				members[o.Key()] = json.RawMessage(o.Raw())
			}
			if delete(members, key); val != nil {
				members[key] = val
			}
			list := slices.Clone(calls)
			list[i].Args = object(members)
			out = append(out, a.with(kind, name(calls, i)+" "+key+what, list))
		}
		if other := s.other(calls[i].Tool, v, m); other != nil {
			with(changed, " "+string(other), other)
		}
		if !m.Optional {
			with(omitted, "", nil)
		}
	}
	return out
}

// other returns another value for an argument, which is valid by its schema but wrong for the task;
// nil if there is none.
func (s *set) other(tool string, v value.Value, m callvet.Matcher) json.RawMessage {
	var schema struct {
		Properties map[string]struct {
			Enum    []string
			Format  string
			Pattern string
		}
	}
	if json.Unmarshal(s.tools[tool].Parameters, &schema) != nil {
		return nil
	}
	form := schema.Properties[v.Key()]
	raw := func(x any) json.RawMessage {
		b, err := json.Marshal(x)
		if err != nil {
			return nil
		}
		return b
	}
	if v.Kind() != value.String {
		var n json.Number
		if json.Unmarshal(v.Raw(), &n) != nil {
			return nil
		}
		return json.RawMessage(n.String() + "1") // ten times as much, and one
	}
	text := v.Str()
	switch {
	case form.Enum != nil:
		var accepted []string
		if m.Mode == "any_of" && json.Unmarshal(m.Value, &accepted) != nil {
			return nil
		}
		for _, o := range form.Enum {
			if o != text && !slices.Contains(accepted, o) {
				return raw(o)
			}
		}
		return nil
	case form.Format == "date":
		day, err := time.Parse(time.DateOnly, text)
		if err != nil {
			return nil
		}
		return raw(day.AddDate(0, 0, 41).Format(time.DateOnly))
	case form.Format == "uri":
		return raw(strings.TrimSuffix(text, "/") + "/zzz")
	case strings.HasSuffix(form.Pattern, "(BR|AR)$"): // a tracking code: the digit before the country
		return raw(text[:3] + rotated(text[3:4]) + text[4:])
	case form.Pattern != "":
		return raw(text[:len(text)-1] + rotated(text[len(text)-1:]))
	}
	return raw("zzz zzz")
}

// rotated returns the next digit or small letter.
func rotated(s string) string {
	switch c := s[0]; c {
	case '9':
		return "0"
	case 'z':
		return "a"
	default:
		return string(c + 1)
	}
}
