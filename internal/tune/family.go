// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package tune

import (
	"cmp"
	"encoding/json"
	"iter"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/callvet/callvet"
)

// Member is a case with the name of its family.
type Member struct {
	Case   *callvet.Case
	Family string
	// Asks is the question of the user, with placeholders for the parts that vary between the cases
	// of a template.
	Asks string
}

// originFields are fields of cases that name the origin of a case.
var originFields = []string{
	"source_trace", "trace_id", "conversation_id", "conversation", "session_id", "session", "template_file", "template",
}

// Origins returns the origins of a case, for Families: the values of its fields source_trace,
// trace_id, conversation_id, conversation, session_id, session, template_file and template, and its
// entry in a file of another form. Such a file makes several cases from one entry, for example from
// a test with several prompts.
func Origins(c *callvet.Case) []string {
	var out []string
	for _, name := range originFields {
		if v := c.Fields[name]; v != "" {
			out = append(out, name+"\x00"+v)
		}
	}
	if len(c.Foreign) > 0 {
		out = append(out, "entry\x00"+string(c.Foreign))
	}
	return out
}

// Families groups similar cases, so that a search does not see a twin of a held-out case.
// Cases with the same Case.Family are one family. A case without one is in a family with each case
// that
//
//   - belongs to the same conversation: the input of one continues the other's, or both continue the
//     same exchange (worked examples are one: cases that all begin with them need Case.Family);
//   - has the same origin: a text of from, such as a source trace or a template; nil: origins are not
//     known;
//   - has an equal prompt after numbers, quoted texts and the values of expected arguments are
//     replaced. Case and white space do not count.
//
// A family has the smallest name that one of its cases has, or else the smallest id. The order of
// the cases changes nothing. The result has the order of the cases.
func Families(cases iter.Seq[*callvet.Case], from func(*callvet.Case) []string) []Member {
	var out []Member
	varies := newPatterns()
	for c := range cases {
		out = append(out, Member{Case: c, Asks: varies.of(c)})
	}
	of := newGroups(len(out))
	having := map[string][]int{} // cases by what makes them alike
	whole := map[string]bool{}
	for i := range out {
		whole[talk(out[i].Case.Input)] = true
	}
	for i, m := range out {
		for _, key := range likenesses(m, whole) {
			having[key] = append(having[key], i)
		}
		if from != nil {
			for _, origin := range from(m.Case) {
				having["origin\x00"+origin] = append(having["origin\x00"+origin], i)
			}
		}
		if m.Case.Family != "" {
			having["family\x00"+m.Case.Family] = append(having["family\x00"+m.Case.Family], i)
		}
	}
	for key, alike := range having {
		named := func(i int) bool { return out[i].Case.Family != "" }
		if !strings.HasPrefix(key, "family\x00") && !slices.ContainsFunc(alike, func(i int) bool { return !named(i) }) {
			continue // the author of the suite named all families
		}
		for _, i := range alike[1:] {
			of.join(alike[0], i)
		}
	}
	names := map[int]string{}
	smaller := func(i int, name string) {
		root := of.root(i)
		if old, known := names[root]; !known || name < old {
			names[root] = name
		}
	}
	for i := range out {
		if out[i].Case.Family != "" {
			smaller(i, out[i].Case.Family)
		}
	}
	named := map[int]bool{}
	for root := range names {
		named[root] = true
	}
	for i := range out {
		if !named[of.root(i)] {
			smaller(i, out[i].Case.ID)
		}
	}
	for i := range out {
		out[i].Family = names[of.root(i)]
	}
	return out
}

// likenesses returns the keys that a case shares with similar cases.
func likenesses(m Member, whole map[string]bool) []string {
	keys := []string{"prompt\x00" + m.Asks}
	turns := m.Case.Input
	answered := false
	for n := 1; n < len(turns); n++ {
		answered = answered || turns[n-1].Role == callvet.RoleAssistant
		if start := talk(turns[:n]); answered || whole[start] {
			keys = append(keys, start)
		}
	}
	return append(keys, talk(turns))
}

// talk identifies a conversation.
func talk(turns []callvet.Turn) string {
	var b strings.Builder
	b.WriteString("talk")
	for i := range turns {
		b.WriteString("\x00" + string(turns[i].Role) + "\x01" + strings.Join(strings.Fields(turns[i].Content), " "))
		for k := range turns[i].Calls {
			c := &turns[i].Calls[k]
			b.WriteString("\x01" + c.Tool + "\x02" + string(c.Args))
		}
	}
	return b.String()
}

// patterns match the parts that vary between cases of one template.
type patterns struct{ number, quoted, single *regexp.Regexp }

// newPatterns compiles the patterns. A number may have separators, as in dates, times and amounts.
func newPatterns() patterns {
	return patterns{
		number: regexp.MustCompile(`\d+(?:[.,:/-]\d+)*`),
		quoted: regexp.MustCompile("\"[^\"\n]*\"|“[^”\n]*”|«[^»\n]*»|„[^“”\n]*[“”]|‘[^’\n]*’|`[^`\n]*`"),
		single: regexp.MustCompile(`(^|[^\pL\pN])'[^'\n]*'($|[^\pL\pN])`),
	}
}

// blank stands in a pattern for a value.
const blank = "▯"

// of is what the user asks in a case, with numbers, quoted texts and the values of expected arguments
// replaced. Cases of one template have equal patterns.
func (p patterns) of(c *callvet.Case) string {
	var texts []string
	for i := range c.Input {
		if c.Input[i].Role == callvet.RoleUser {
			texts = append(texts, c.Input[i].Content)
		}
	}
	plain := p.quoted.ReplaceAllString(strings.Join(texts, "\n\n"), blank)
	plain = p.single.ReplaceAllString(plain, "${1}"+blank+"${2}")
	plain = fold(plain)
	out := plain
	for _, v := range argumentValues(&c.Expect) {
		out = replaceWord(out, v)
	}
	if !strings.ContainsFunc(out, unicode.IsLetter) { // an argument is the whole prompt
		out = plain
	}
	return p.number.ReplaceAllString(out, blank)
}

// argumentValues are the texts and numbers of the arguments that a case expects, the longest first.
func argumentValues(e *callvet.Expect) []string {
	var out []string
	add := func(raw json.RawMessage) {
		var v any
		if json.Unmarshal(raw, &v) == nil {
			out = textsIn(out, v)
		}
	}
	calls := func(list []callvet.ExpectedCall) {
		for i := range list {
			add(list[i].Args)
			for _, m := range list[i].Matchers {
				add(m.Value)
			}
		}
	}
	for _, p := range slices.Concat(e.Plans, e.AllOf) {
		calls(p.Calls)
	}
	for i := range e.Counts {
		calls([]callvet.ExpectedCall{e.Counts[i].Call})
	}
	for i := range e.ToolParams {
		add(e.ToolParams[i].Matcher.Value)
	}
	slices.SortFunc(out, func(a, b string) int { return cmp.Or(len(b)-len(a), cmp.Compare(a, b)) })
	return slices.Compact(out)
}

// textsIn are the texts in a JSON value. Texts of one character are too short to be recognized; the
// numbers of a prompt are replaced anyway.
func textsIn(out []string, v any) []string {
	switch v := v.(type) {
	case string:
		if s := fold(v); utf8.RuneCountInString(s) > 1 {
			out = append(out, s)
		}
	case []any:
		for _, x := range v {
			out = textsIn(out, x)
		}
	case map[string]any:
		for _, x := range v {
			out = textsIn(out, x)
		}
	}
	return out
}

// replaceWord replaces a text where it stands as a word of its own.
func replaceWord(s, word string) string {
	var b strings.Builder
	inWord := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
	for at := 0; ; {
		i := strings.Index(s[at:], word)
		if i < 0 {
			return b.String() + s[at:]
		}
		i += at
		end := i + len(word)
		before, _ := utf8.DecodeLastRuneInString(s[:i])
		after, _ := utf8.DecodeRuneInString(s[end:])
		first, _ := utf8.DecodeRuneInString(word)
		last, _ := utf8.DecodeLastRuneInString(word)
		b.WriteString(s[at:i])
		if i > 0 && inWord(before) && inWord(first) || end < len(s) && inWord(after) && inWord(last) {
			b.WriteString(word)
		} else {
			b.WriteString(blank)
		}
		at = end
	}
}

// groups are disjoint sets of numbers.
type groups []int

func newGroups(n int) groups {
	g := make(groups, n)
	for i := range g {
		g[i] = i
	}
	return g
}

func (g groups) root(i int) int {
	for g[i] != i {
		g[i] = g[g[i]]
		i = g[i]
	}
	return i
}

func (g groups) join(a, b int) { g[g.root(b)] = g.root(a) }
