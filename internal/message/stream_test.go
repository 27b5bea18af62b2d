// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package message

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

// assembled reads a list of deltas, [index, id, name, arguments] each, and writes the calls.
func assembled(t *testing.T, tools *callvet.Toolset, deltas string) string {
	t.Helper()
	root, err := value.Parse([]byte(deltas))
	if err != nil {
		t.Fatal(err)
	}
	var calls Calls
	for d, ok := root.First(); ok; d, ok = root.Next(d) {
		if d.Kind() != value.Array {
			calls.Add(Piece{Alone: true, Args: string(d.Raw())})
			continue
		}
		index, _ := At(d, "0")
		id, _ := At(d, "1")
		name, _ := At(d, "2")
		args, _ := At(d, "3")
		text := args.Str()
		if args.Kind() != value.String {
			text = string(args.Raw())
		}
		calls.Add(Piece{Index: index, ID: id.Str(), Name: name.Str(), Args: text})
	}
	var out []string
	for _, c := range calls.List(tools) {
		text := string(c.Args)
		if c.Malformed() {
			text = "?" + c.ArgsRaw
		}
		out = append(out, c.ID+" "+c.Tool+" "+text)
	}
	return strings.Join(out, " | ")
}

func TestCallsOfAStream(t *testing.T) {
	t.Parallel()
	tools := &callvet.Toolset{Tools: []callvet.Tool{{Name: "ssh_run"}, {Name: "get_time"}, {Name: "oo"}}}
	for name, c := range map[string]struct{ deltas, want string }{
		"deltas": {`[[0,"a","f",""],[0,"","","{\"x\""],[0,"","",":1}"]]`, `a f {"x":1}`},
		"one index, two ids": {
			`[[0,"a","f","{\"x\":1}"],[0,"b","f","{\"x\":2}"]]`,
			`a f {"x":1} | b f {"x":2}`,
		},
		"one index, two ids, in turns": {`[[0,"a","f","{\"x\""],[0,"b","f","{\"x\""],[0,"a","",":1}"],[0,"b","",":2}"]]`, `a f {"x":1} | b f {"x":2}`},
		"one index, the second goes on": {
			`[[0,"a","f","{\"x\":1}"],[0,"b","f",""],[0,"","","{\"x\""],[0,"","",":2}"]]`,
			`a f {"x":1} | b f {"x":2}`,
		},
		"one index, no ids":      {`[[0,"","f","{\"x\":1}"],[0,"","f","{\"x\":2}"]]`, ` f {"x":1} |  f {"x":2}`},
		"one index, other names": {`[[0,"","f","{}"],[0,"","g","{}"]]`, ` f {} |  g {}`},
		"one id, two indexes":    {`[[0,"a","f","{}"],[1,"a","f","{}"]]`, `a f {} | a f {}`},
		"one id, two calls": {
			`[[0,"a","f","{\"x\":1}"],[0,"a","f","{\"x\":2}"]]`,
			`a f {"x":1} | a f {"x":2}`,
		},
		"an id for every piece": {
			`[[0,"a","f",""],[0,"b","","{\"x\""],[0,"c","",":1}"],[0,"d","",""]]`,
			`a f {"x":1}`,
		},
		"an id and a name for each": {`[[0,"a","f","{\"x\""],[0,"b","f",":1}"]]`, `a f {"x":1}`},
		"the name again":            {`[[0,"a","f","{\"x\""],[0,"a","f",":1}"],[0,"a","f",""]]`, `a f {"x":1}`},
		"the name again, before":    {`[[0,"a","f",""],[0,"a","f",""],[0,"a","f","{}"]]`, `a f {}`},
		"the name again, no index": {
			`[[null,"a","f","{\"x\""],[null,"a","f",":1}"],[null,"b","f","{\"x\":1}"]]`,
			`a f {"x":1} | b f {"x":1}`,
		},
		"the name again, nothing else": {`[[null,"","f","{\"x\""],[null,"","f",":{"],[null,"","f","}}"],[null,"","f","{\"x\":{}}"]]`, ` f {"x":{}} |  f {"x":{}}`},
		"a name in pieces":             {`[[0,"a","get_",""],[0,"","time","{}"]]`, `a get_time {}`},
		"a name in pieces, no index": {
			`[[null,"","get_",""],[null,"","time",""],[null,"","","{}"]]`,
			` get_time {}`,
		},
		"a name in pieces, then whole": {
			`[[0,"a","get_",""],[0,"a","time",""],[0,"a","get_time","{}"]]`,
			`a get_time {}`,
		},
		"a name that grows": {
			`[[0,"a","get",""],[0,"a","get_ti",""],[0,"a","get_time","{}"]]`,
			`a get_time {}`,
		},
		"a name that seems to grow":  {`[[0,"a","s",""],[0,"a","sh_run","{}"]]`, `a ssh_run {}`},
		"a name that seems repeated": {`[[0,"a","o",""],[0,"a","o","{}"]]`, `a oo {}`},
		"arguments that grow": {
			`[[0,"a","f","{\"x\""],[0,"a","f","{\"x\":1"],[0,"a","f","{\"x\":1}"]]`,
			`a f {"x":1}`,
		},
		"arguments that grow, no id":    {`[[0,"","f","{\"x\""],[0,"","","{\"x\":1"],[0,"","","{\"x\":1}"],[0,"","","{\"x\":1}"]]`, ` f {"x":1}`},
		"arguments that grow, no index": {`[[null,"a","f","{\"x\""],[null,"a","f","{\"x\":1}"]]`, `a f {"x":1}`},
		"arguments that grow, cut off":  {`[[0,"a","f","{\"x\""],[0,"a","f","{\"x\":[1"]]`, `a f ?{"x"{"x":[1`},
		"values that grow":              {`[[0,"a","f","{}"],[0,"a","f","{\"x\":\"P\"}"],[0,"a","f","{\"x\":\"Pa\",\"y\":[1]}"],[0,"a","f","{\"x\":\"Paris\",\"y\":[1,2]}"]]`, `a f {"x":"Paris","y":[1,2]}`},
		"deltas, then all": {
			`[[0,"a","f","{\"x\""],[0,"","",":1}"],[0,"","","{\"x\": 1}"]]`,
			`a f {"x": 1}`,
		},
		"all, twice": {`[[0,"a","f","{\"x\":1}"],[0,"a","f","{\"x\":1}"]]`, `a f {"x":1}`},
		"nested, no repetition": {
			`[[0,"a","f","{\"x\":"],[0,"a","f","{\"x\":1}"],[0,"a","f","}"]]`,
			`a f {"x":{"x":1}}`,
		},
		"a place holder":        {`[[0,"a","f","{}"],[0,"","","{\"x\""],[0,"","",":1}"]]`, `a f {"x":1}`},
		"a place holder, named": {`[[0,"a","f",{}],[0,"a","f","{\"x\""],[0,"a","f",":1}"]]`, `a f {"x":1}`},
		"an object":             {`[[0,"a","f",{"x":1}]]`, `a f {"x":1}`},
		"objects that grow":     {`[[0,"a","f",{"x":"P"}],[0,"a","f",{"x":"Paris"}]]`, `a f {"x":"Paris"}`},
		"objects that differ": {
			`[[0,"a","f",{"x":"P"}],[0,"a","",{"x":"Rome"}]]`,
			`a f ?{"x":"P"}{"x":"Rome"}`,
		},
		"the number is no text":        {`[[0,"a","f","{\"x\":1}"],[0,"a","","{\"x\":12}"]]`, `a f ?{"x":1}{"x":12}`},
		"an id that comes late":        {`[[0,"","f","{\"x\""],[0,"a","",":1}"]]`, `a f {"x":1}`},
		"an id that comes late, named": {`[[null,"","f","{\"x\""],[null,"a","f",":1}"]]`, `a f {"x":1}`},
		"no index": {
			`[[null,"a","f","{\"x\""],[null,"","",":1}"],[null,"b","f","{\"x\":1}"]]`,
			`a f {"x":1} | b f {"x":1}`,
		},
		"no index, no ids":         {`[[null,"","f","{}"],[null,"","f","{}"]]`, ` f {} |  f {}`},
		"no index, no arguments":   {`[[null,"","f",""],[null,"","g",""]]`, ` f {} |  g {}`},
		"an index that comes late": {`[[null,"a","f",""],[0,"","","{}"]]`, `a f {}`},
		"an index as a text": {
			`[["0","a","f","{\"x\""],["1","b","g","{}"],["0","","",":1}"]]`,
			`a f {"x":1} | b g {}`,
		},
		"indexes out of order": {
			`[[1,"b","g","{\"y\""],[0,"a","f","{}"],[1,"","",":1}"]]`,
			`a f {} | b g {"y":1}`,
		},
		"an index that is none":     {`[[-1,"a","f","{}"],[1e99,"b","g","{}"]]`, `a f {} | b g {}`},
		"no object":                 {`[[0,"a","f","{}"],null]`, `a f {} |   ?`},
		"arguments that never end":  {`[[0,"a","f","{\"x\":1}"],[0,"","","}"],[0,"","","}"]]`, `a f ?{"x":1}}}`},
		"arguments without a name":  {`[[0,"a","","{}"]]`, `a  ?`},
		"arguments before the name": {`[[0,"a","","{\"x\""],[0,"a","f",":1}"]]`, `a f {"x":1}`},
		"an index that comes late, two": {
			`[[null,"a","f",""],[0,"","","{\"x\""],[1,"b","g","{}"],[0,"","",":1}"]]`,
			`a f {"x":1} | b g {}`,
		},
		"an index that comes late, id": {`[[null,"a","f",""],[null,"b","g","{}"],[0,"a","","{}"]]`, `a f {} | b g {}`},
		"two calls in turns": {
			`[[0,"a","f","{\"x\""],[1,"a","g","{"],[0,"a","",":1}"],[1,"a","","}"]]`,
			`a f {"x":1} | a g {}`,
		},
		"a second call without a name": {`[[0,"a","f","{}"],[1,"","","{}"]]`, `a f {} |   ?`},
		"a name again, more arguments": {`[[0,"","f","{}"],[0,"","f","{\"x\":1}"]]`, ` f {"x":1}`},
		"a null that grows":            {`[[0,"a","f",{"x":null}],[0,"a","f",{"x":1}]]`, `a f {"x":1}`},
		"all, after an empty object": {
			`[[0,"a","f","{\"x\":"],[0,"a","f","{}"],[0,"a","f","{\"x\":1}"]]`,
			`a f {"x":1}`,
		},
		"a large index":           {`[[1048576,"a","f","{}"],[0,"b","g","{}"]]`, `a f {} | b g {}`},
		"a large index as a text": {`[["1048576","a","f","{}"],["0","b","g","{}"]]`, `a f {} | b g {}`},
	} {
		got := assembled(t, tools, c.deltas)
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// TestAnySplitIsTheCall: however a server divides calls into pieces, and whatever it repeats,
// they are the calls that they are whole.
func TestAnySplitIsTheCall(t *testing.T) {
	t.Parallel()
	calls := []callvet.Call{
		{ID: "a", Tool: "get_weather", Args: raw(`{"city":"Paris {\"x\":1}","days":[1,11,{"city":"Paris"}]}`)},
		{ID: "b", Tool: "get_weather", Args: raw(`{"city":"Rome","days":{"city":{"city":{}}}}`)},
		{ID: "c", Tool: "oops", Args: raw(`{"{}":"{}\\\"","}":"}"}`)},
		{ID: "d", Tool: "list", Args: raw(`{}`)},
	}
	tools := &callvet.Toolset{Tools: []callvet.Tool{
		{Name: "get_weather"},
		{Name: "oops"},
		{Name: "list"},
		{Name: "lists"},
	}}
	rnd := rand.New(rand.NewPCG(1, 2))
	rounds := 4_000
	if testing.Short() {
		rounds = 500
	}
	for range rounds {
		style := split{
			rnd: rnd, noIndex: rnd.IntN(3) == 0, zero: rnd.IntN(3) == 0, text: rnd.IntN(3) == 0,
			cumulative: rnd.IntN(3) == 0, names: rnd.IntN(2) == 0, ids: rnd.IntN(2) == 0, late: rnd.IntN(4) == 0,
		}
		n := 1 + rnd.IntN(len(calls))
		var s Calls
		for i := range n {
			for _, p := range style.pieces(i, &calls[i]) {
				s.Add(p)
			}
		}
		if d := cmp.Diff(calls[:n], s.List(tools)); d != "" {
			t.Fatalf("%+v: %s\n%+v", style, d, s.parts)
		}
	}
}

// split is how a server divides a call.
type split struct {
	rnd                                               *rand.Rand
	noIndex, zero, text, cumulative, names, ids, late bool
}

func (s *split) cut(text string) []string {
	var out []string
	for text != "" {
		n := 1 + s.rnd.IntN(min(len(text), 12))
		out, text = append(out, text[:n]), text[n:]
	}
	return out
}

func (s *split) pieces(i int, c *callvet.Call) []Piece {
	var index value.Value
	switch {
	case s.noIndex:
	case s.zero:
		index = parsed(0, s.text)
	default:
		index = parsed(i, s.text)
	}
	id := c.ID
	late := s.late && !s.noIndex && !s.zero
	if late {
		id = ""
	}
	var out []Piece
	if s.names {
		out = []Piece{{Index: index, ID: id, Name: c.Tool}}
	} else {
		for k, part := range s.cut(c.Tool) {
			p := Piece{Index: index, ID: id, Name: part}
			if k > 0 && !s.ids && !s.noIndex {
				p.ID = ""
			}
			out = append(out, p)
		}
	}
	text := ""
	for _, part := range s.cut(string(c.Args)) {
		if text += part; s.cumulative {
			part = text
		}
		p := Piece{Index: index, Args: part}
		if s.ids || late {
			p.ID = c.ID
		}
		if s.names {
			p.Name = c.Tool
		}
		out = append(out, p)
	}
	return out
}

func parsed(i int, text bool) value.Value {
	b, _ := json.Marshal(i)
	if text {
		b = []byte(strconv.Quote(string(b)))
	}
	v, _ := value.Parse(b)
	return v
}

func FuzzCalls(f *testing.F) {
	f.Add(`[[0,"a","f","{\"x\""],[0,"a","f",":1}"],null,["1","","g",{}],[]]`)
	f.Fuzz(func(t *testing.T, deltas string) {
		if root, err := value.Parse([]byte(deltas)); err == nil && root.Kind() == value.Array {
			assembled(t, nil, deltas)
		}
	})
}

// TestChatCalls: pieces of functions, of custom tools and of the older form, and what is no piece.
func TestChatCalls(t *testing.T) {
	t.Parallel()
	var s ChatCalls
	pieces := 0
	for _, delta := range []string{
		`{"tool_calls":[{"index":0,"id":"1","function":{"name":"f","arguments":"{\"a\""}}]}`,
		`{"tool_calls":[{"index":1,"id":"2","custom":{"name":"g","input":"say "}}]}`,
		`{"tool_calls":[{"index":0,"function":{"arguments":":1}"},"custom":{}},{"index":1,"custom":{"input":"hi"}}]}`,
		`{"tool_calls":null,"content":"x"}`, `{"tool_calls":[],"function_call":{}}`,
		`{"function_call":{"name":"h","arguments":"{}"}}`, `{"tool_calls":[null]}`,
	} {
		v, err := value.Parse([]byte(delta))
		if err != nil {
			t.Fatal(err)
		}
		pieces += s.Add(v)
	}
	var got []string
	for _, c := range s.List(nil) {
		got = append(got, fmt.Sprintf("%s#%s%s", c.Tool, c.ID, c.Args))
	}
	if want := `f#1{"a":1} g#2"say hi" #{} h#{}`; strings.Join(got, " ") != want || pieces != 6 {
		t.Errorf("%d pieces: %s, want %s", pieces, got, want)
	}
}
