// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package offline

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

// LexicalVersion names the rules in force; answers may change between versions.
const LexicalVersion = "lexical-2"

// threshold is the support below which the caller abstains. One word of a tool's name is enough,
// or two words of its description, or one of them and a certain required value (which counts
// sureSlot). Values with fewer words than leastWords are never enough.
const (
	threshold  = 1.0
	sureSlot   = 0.5
	leastWords = 0.35
)

// maxIndexes bounds how many toolsets are cached.
const maxIndexes = 512

// OpenLexical opens offline/lexical, the floor that any model must beat (Target.Floor). It calls
// the tool with the most similar words (BM25), and finds the arguments in the text by the tool's
// schema. It abstains if the words give too little support or no required slot can be filled.
func OpenLexical() (callvet.Model, callvet.Target) {
	t := callvet.Target{Name: "offline/lexical", Provider: "offline", Model: LexicalVersion, Floor: true, Free: true}
	return &lexical{p: newPatterns(), indexes: map[indexKey]*index{}, split: newSplitter(), join: newJoiner()}, t
}

type indexKey struct {
	tools string
	lang  lang
}

type lexical struct {
	p       *patterns
	split   *regexp.Regexp
	join    *regexp.Regexp
	mu      sync.Mutex
	indexes map[indexKey]*index
}

// newSplitter cuts a request into its parts.
func newSplitter() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(?:,?\s+(?:and|y|e|och|und|then|also|plus|as well as)\s+|[;?!\n]+\s*|,\s+|\.\s+)`)
}

func (m *lexical) index(ts *callvet.Toolset, l lang) *index {
	m.mu.Lock()
	defer m.mu.Unlock()
	k := indexKey{ts.Hash, l}
	x := m.indexes[k]
	if x == nil || ts.Hash == "" {
		if len(m.indexes) >= maxIndexes {
			clear(m.indexes)
		}
		x = newIndex(ts, l)
		m.indexes[k] = x
	}
	return x
}

// Generate returns one assistant turn.
func (m *lexical) Generate(ctx context.Context, req *callvet.Request) (*callvet.Response, error) {
	if err := ctx.Err(); err != nil {
		return nil, endOf(err)
	}
	calls, text := m.answer(req)
	for i := range calls {
		calls[i].ID = fmt.Sprintf("call_%d_%d", roundOf(req.Turns), i)
	}
	finish := "stop"
	if len(calls) > 0 {
		finish, text = "tool_calls", ""
	}
	return &callvet.Response{
		Turns: []callvet.Turn{{Role: callvet.RoleAssistant, Content: text, Calls: calls}},
		Model: LexicalVersion, FinishReason: finish, ToolChoice: req.ToolChoice,
	}, nil
}

// Identity is the SHA-256 of everything that an answer depends on: the version of
// the rules, the system prompt, the conversation, the tools and the tool choice.
func (m *lexical) Identity(req *callvet.Request) [sha256.Size]byte {
	tools := ""
	if req.Tools != nil {
		tools = req.Tools.Hash
	}
	b, err := json.Marshal([]any{LexicalVersion, req.System, req.Turns, tools, req.ToolChoice})
	if err != nil { // arguments that are not JSON, which no stored call has
		b = fmt.Appendf(nil, "%s %s %d %v", req.CaseID, tools, req.Repeat, err)
	}
	return sha256.Sum256(b)
}

// question is one prepared request.
type question struct {
	m     *lexical
	x     *index
	lang  lang
	asOf  time.Time
	older string          // earlier texts of the user
	found json.RawMessage // results since the last user turn
	made  []callvet.Call  // calls since then
	force bool            // a call is required
	named string          // the tool that must be called
}

func (m *lexical) answer(req *callvet.Request) ([]callvet.Call, string) {
	const nothing = "I have no tool for that."
	text := callvet.Question(req.Turns)
	if req.Tools == nil || len(req.Tools.Tools) == 0 || req.ToolChoice == "none" {
		return nil, nothing
	}
	q := &question{
		m: m, lang: detect(words(text)), asOf: m.today(req), older: olderUser(req.Turns),
		found: results(req.Turns),
	}
	q.x = m.index(req.Tools, q.lang)
	q.made = callsSince(req.Turns)
	q.force = req.ToolChoice == "required" && len(q.made) == 0
	if req.Tools.Find(req.ToolChoice) != nil && len(q.made) == 0 {
		q.force, q.named = true, req.ToolChoice
	}
	if len(q.made) > 0 {
		if c, ok := q.next(text); ok {
			return []callvet.Call{c}, ""
		}
		if q.found == nil {
			return nil, "Done."
		}
		return nil, quote(q.found)
	}
	if calls := q.parallel(text); len(calls) > 1 {
		return calls, ""
	}
	g, ok := q.guess(text)
	if !ok {
		return nil, nothing
	}
	if calls := q.listed(&g, text); len(calls) > 1 {
		return calls, ""
	}
	return []callvet.Call{g.call}, ""
}

// today is the first ISO date of the system text (it contains a case's as_of).
func (m *lexical) today(req *callvet.Request) time.Time {
	texts := []string{req.System}
	for _, t := range req.Turns {
		if t.Role == callvet.RoleSystem {
			texts = append(texts, t.Content)
		}
	}
	for _, s := range texts {
		if d := m.p.iso.FindStringSubmatch(s); d != nil {
			if t, err := time.Parse(time.DateOnly, d[1]+"-"+d[2]+"-"+d[3]); err == nil {
				return t
			}
		}
	}
	return time.Time{}
}

func olderUser(turns []callvet.Turn) string {
	var out []string
	last := true
	for i := len(turns) - 1; i >= 0; i-- {
		if turns[i].Role == callvet.RoleUser && strings.TrimSpace(turns[i].Content) != "" {
			if !last {
				out = append(out, turns[i].Content)
			}
			last = false
		}
	}
	return strings.Join(out, "\n")
}

func callsSince(turns []callvet.Turn) []callvet.Call {
	var out []callvet.Call
	for i := len(turns) - 1; i >= 0 && turns[i].Role != callvet.RoleUser; i-- {
		out = append(out, turns[i].Calls...)
	}
	return out
}

// guess is a call with its support.
type guess struct {
	ranked
	call    callvet.Call
	n, need int      // filled and existing required slots
	keys    []string // slots filled
	score   float64
}

func (g *guess) full() bool { return g.n == g.need }

// stems returns the stems of each word of a text, without function words.
func (q *question) stems(text string) [][]string {
	var out [][]string
	for _, w := range words(text) {
		if !isFunction(q.lang, w) && !isFunction(en, w) {
			out = append(out, stems(q.lang, w))
		}
	}
	return out
}

// candidates is the number of the best tools for which slots are filled.
const candidates = 8

// guesses ranks the tools for a text and fills the slots of the best.
func (q *question) guesses(text string) []guess {
	var out []guess
	for i, r := range q.x.rank(q.stems(text)) {
		if q.named != "" && r.tool.Name != q.named || q.named == "" && i >= candidates {
			continue
		}
		if r.bm25 == 0 && !q.force {
			break // the rest shares no word
		}
		g := q.fill(r, text)
		share := 1.0
		if g.need > 0 {
			share = float64(g.n) / float64(g.need)
		}
		g.score = r.bm25 * (0.5 + 0.5*share)
		out = append(out, g)
	}
	slices.SortStableFunc(out, func(a, b guess) int {
		switch {
		case a.score > b.score:
			return -1
		case a.score < b.score:
			return 1
		}
		return 0
	})
	return out
}

// fill fills the slots of a tool from a text, and missing required ones from the user's earlier
// texts.
func (q *question) fill(r ranked, text string) guess {
	g := q.fillFrom(r, text)
	if g.n < g.need && q.older != "" {
		if more := q.fillFrom(r, text+"\n"+q.older); more.n > g.n {
			g = more
		}
	}
	return g
}

func (q *question) fillFrom(r ranked, text string) guess {
	verb := func(w string) bool { s := stem(en, fold(w)); return r.name[s] || r.desc[s] }
	x := &filler{f: q.m.p.read(text, q.lang, q.asOf, verb), p: q.m.p, from: q.found}
	g := guess{ranked: r}
	var args json.RawMessage
	args, g.n, g.need, g.keys = x.object(r.params)
	if g.support >= leastWords {
		g.support += sureSlot * float64(x.sure)
	}
	g.call = callvet.Call{Tool: r.tool.Name, Args: args}
	return g
}

// enough decides between calling and abstaining.
func (q *question) enough(g *guess) bool {
	return q.force || g.support >= threshold && (g.need == 0 || g.n > 0)
}

// guess is the best call for a text; a request without enough content is read together with the
// earlier texts.
func (q *question) guess(text string) (guess, bool) {
	list := q.guesses(text)
	if g := q.ready(list); g != nil {
		return *g, true
	}
	if len(list) > 0 && q.enough(&list[0]) {
		return list[0], true
	}
	if q.older != "" {
		if list = q.guesses(text + "\n" + q.older); len(list) > 0 && q.enough(&list[0]) {
			return list[0], true
		}
	}
	return guess{}, false
}

// ready is a call with all required values and nearly the best words, if the best call lacks
// required values: the call that must come first (search, then book). Nil if none.
func (q *question) ready(list []guess) *guess {
	if len(list) == 0 || list[0].full() {
		return nil
	}
	for i := range list[1:] {
		if g := &list[i+1]; g.full() && g.need > 0 && g.bm25 >= 0.3*list[0].bm25 && q.enough(g) {
			return g
		}
	}
	return nil
}

// next looks for one more action in the request: an uncalled tool with a name that the request
// supports. All its slots must be filled, at least one of them from a result.
func (q *question) next(text string) (callvet.Call, bool) {
	if q.found == nil {
		return callvet.Call{}, false
	}
	for _, g := range q.guesses(text) {
		made := slices.ContainsFunc(q.made, func(c callvet.Call) bool { return c.Tool == g.tool.Name })
		if made || !g.full() || g.need == 0 || g.support < threshold || !q.verb(&g, text) || !q.fromResult(&g) {
			continue
		}
		return g.call, true
	}
	return callvet.Call{}, false
}

// verb requires that the first word of the tool's name is in the request.
func (q *question) verb(g *guess, text string) bool {
	ws := words(g.tool.Name)
	if len(ws) == 0 {
		return false
	}
	want := stem(en, ws[0])
	return slices.ContainsFunc(words(text), func(w string) bool { return slices.Contains(stems(q.lang, w), want) })
}

// fromResult requires that some required slot was filled from a result.
func (q *question) fromResult(g *guess) bool {
	x := &filler{f: &facts{}, p: q.m.p, from: q.found}
	return slices.ContainsFunc(g.params.props, func(p *param) bool {
		return p.required && p.enum == nil && x.result(p) != nil
	})
}

// parallel reads a request as several: each part is a separate call with all required slots, or
// changes slots of the call before it (Paris and London). Other parts belong to the part before
// them. Fewer than two calls mean that the request is not parallel.
func (q *question) parallel(text string) []callvet.Call {
	if low := fold(text); strings.Contains(low, "between ") || strings.Contains(low, "entre ") {
		return nil
	}
	parts := q.m.parts(text)
	if len(parts) < 2 {
		return nil
	}
	var out []guess
	pending := ""
	for _, part := range parts {
		whole := strings.TrimSpace(pending + " " + part)
		if g, ok := q.own(whole); ok {
			out, pending = append(out, g), ""
			continue
		}
		if len(out) > 0 && pending == "" {
			if g, ok := q.changed(&out[len(out)-1], part); ok {
				out = append(out, g)
				continue
			}
		}
		pending = whole
	}
	var calls []callvet.Call
	for _, g := range out {
		same := func(c callvet.Call) bool { return c.Tool == g.call.Tool && string(c.Args) == string(g.call.Args) }
		if !slices.ContainsFunc(calls, same) {
			calls = append(calls, g.call)
		}
	}
	return calls
}

// pairs reports whether "and" in a text joins two ends, as in "between A and B".
func pairs(text string) bool {
	low := " " + strings.Join(words(text), " ") + " "
	for w := range strings.FieldsSeq("between entre mellan zwischen compare comparing comparison versus vs") {
		if strings.Contains(low, " "+w+" ") {
			return true
		}
	}
	return false
}

// parts cuts a request, but not inside quotes.
func (m *lexical) parts(text string) []string {
	quotes := m.p.quotes(text)
	var out []string
	from := 0
	for _, at := range append(m.split.FindAllStringIndex(text, 50), []int{len(text), len(text)}) {
		if inside(span{from: at[0], to: at[1]}, quotes) {
			continue
		}
		if p := strings.TrimSpace(text[from:at[0]]); p != "" {
			out = append(out, p)
		}
		from = at[1]
	}
	return out
}

// own is the call of an independent part.
func (q *question) own(part string) (guess, bool) {
	list := q.guesses(part)
	if len(list) == 0 {
		return guess{}, false
	}
	g := list[0]
	return g, g.support >= threshold && g.full() && g.need > 0
}

// changed is the previous call with the slots that a part fills; at least one required slot must
// change its value.
func (q *question) changed(prev *guess, part string) (guess, bool) {
	// "and London" has no preposition of its own: it has the role of the previous place.
	g := q.fill(prev.ranked, "for "+part)
	old, err1 := value.Parse(prev.call.Args)
	now, err2 := value.Parse(g.call.Args)
	if err1 != nil || err2 != nil || len(g.keys) == 0 || g.n == 0 {
		return guess{}, false
	}
	out := []byte{'{'}
	changes := 0
	for _, p := range prev.params.props {
		v, ok := now.Get(p.name)
		o, had := old.Get(p.name)
		if ok && had && !value.Equal(v, o) && p.required {
			changes++
		}
		if !ok {
			v, ok = o, had
		}
		if !ok {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		k, _ := json.Marshal(p.name)
		out = append(append(append(out, k...), ':'), v.Raw()...)
	}
	g.call.Args = append(out, '}')
	return g, changes > 0
}
