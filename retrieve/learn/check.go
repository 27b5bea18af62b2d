// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package learn

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/callvet/callvet/retrieve"
)

// MaxDescription is the longest description that is accepted, in characters: the
// longest that OpenAI's function definitions take. MinWords is the shortest.
const (
	MaxDescription = 1024
	MinWords       = 4
)

// Suspect is a description that a model suggests for a tool.
type Suspect struct {
	Description string
	// Tool is the tool in the catalog.
	Tool *retrieve.Entry
	// Names are the names of all tools, Rivals the names that the description may contain.
	Names, Rivals []string
	// Questions are the questions of the whole suite: a description must not contain any of them.
	Questions []Question
	// Unnamed leaves the number and the names of such questions out of the answer. The answer goes
	// to the model, which must not learn about held-out questions.
	Unnamed bool
}

// CheckSuspect lists problems of a suggestion that are visible without knowing the tool. They are
// its length, invisible characters, questions of the suite, instructions to the reader, and
// parameters, numbers, addresses and tools that the catalog does not have. An empty list is no
// proof: a person must check the description of the tool.
func CheckSuspect(s *Suspect) []string {
	var out []string
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	d, n := strings.TrimSpace(s.Description), utf8.RuneCountInString(s.Description)
	switch {
	case !utf8.ValidString(s.Description):
		return []string{"it is no UTF-8"}
	case len(retrieve.Words(d)) < MinWords && n < 5*MinWords: // not every script has spaces
		return []string{fmt.Sprintf("it has fewer than %d words", MinWords)}
	case d == strings.TrimSpace(s.Tool.Tool.Description):
		return []string{"it is the description that there is"}
	case n > MaxDescription:
		add("it has %d characters, more than %d", n, MaxDescription)
		return out // the checks below take time in proportion to the length
	}
	if i := strings.IndexFunc(d, hidden); i >= 0 {
		r, _ := utf8.DecodeRuneInString(d[i:])
		add("it has a character that is not shown (U+%04X)", r)
	}
	c := &retrieve.Catalogue{Entries: []retrieve.Entry{*s.Tool}}
	if leaks := Leaks(c, []Edit{{Tool: s.Tool.Tool.Name, Description: &s.Description}}, s.Questions); len(leaks) > 0 &&
		s.Unnamed {
		add("it contains a question that it is measured with, nearly or word for word")
	} else if len(leaks) > 0 {
		add("it contains what %d of the suite's cases ask, nearly or word for word (%s)", len(leaks), clip(leaks[0].Case))
	}
	out = append(out, s.invented(d)...)
	return append(out, s.orders(d)...)
}

// hidden characters are invisible, or change how others are shown.
func hidden(r rune) bool {
	return r != '\n' && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Zl, unicode.Zp)
}

// The parts of a text that must have a source.
const (
	// identifiers: snake_case, camelCase, text in backquotes
	snakePattern  = "[\\p{L}][\\p{L}\\p{N}]*(?:_[\\p{L}\\p{N}]+)+"
	camelPattern  = "\\p{Ll}+\\p{Lu}[\\p{L}\\p{N}]*"
	quotedPattern = "\x60([^\x60\\n]{1,100})\x60"
	numberPattern = "\\p{N}+(?:[.,:]\\p{N}+)*"
	// addresses of pages and of people
	addressPattern = "(?i)https?://\\S+|www\\.\\S+|\\S+@\\S+\\.\\S+"
	wordPattern    = "[\\p{L}\\p{N}_.\\-]*[\\p{L}\\p{N}]"
)

// invented lists names in a description that the catalog does not have for the tool.
func (s *Suspect) invented(d string) []string {
	var out []string
	known := s.known()
	say := func(what, name string) {
		if m := fmt.Sprintf("it names %s %q, which the catalog does not have for the tool", what, clip(name)); !slices.Contains(out,
			m) && len(out) < 5 {
			out = append(out, m)
		}
	}
	own := s.Tool.Tool.Name
	for _, w := range regexp.MustCompile(wordPattern).FindAllString(d, -1) {
		if other := slices.Contains(s.Names, w); !other || w == own || !special(w) {
			continue
		}
		if !slices.Contains(s.Rivals, w) && len(out) < 5 {
			out = append(out, fmt.Sprintf("it names the tool %q, which it is not confused with", clip(w)))
		}
		known[w] = true
	}
	for _, m := range regexp.MustCompile(quotedPattern).FindAllStringSubmatch(d, -1) {
		if name := strings.TrimSpace(m[1]); !known[name] && !slices.Contains(s.Rivals, name) {
			say("the parameter", name)
			known[name] = true
		}
	}
	for _, p := range []string{snakePattern, camelPattern} {
		for _, name := range regexp.MustCompile(p).FindAllString(d, -1) {
			if !known[name] {
				say("the parameter", name)
			}
		}
	}
	for _, a := range regexp.MustCompile(addressPattern).FindAllString(d, -1) {
		if !strings.Contains(s.source(), a) {
			say("the address", a)
		}
	}
	for _, w := range regexp.MustCompile("[\\p{L}\\p{N}_]*"+numberPattern+"[\\p{L}_]*").FindAllString(d, -1) {
		if regexp.MustCompile("^"+numberPattern+"$").MatchString(w) && !known[w] {
			say("the number", w)
		}
	}
	return out
}

// special reports whether a name is no ordinary word of a sentence.
func special(name string) bool {
	return strings.ContainsAny(name, "_-.") || strings.IndexFunc(name, unicode.IsDigit) >= 0 ||
		strings.IndexFunc(name, unicode.IsUpper) > 0
}

// source is all text of the catalog about the tool.
func (s *Suspect) source() string {
	t := s.Tool
	all := append([]string{t.Tool.Name, t.Title, t.Tool.Description, t.Text, string(t.Tool.Parameters)}, t.Keywords...)
	return strings.Join(append(append(all, t.Examples...), t.Tool.Tags...), "\n")
}

// known are the names and numbers of the tool in the catalog.
func (s *Suspect) known() map[string]bool {
	out := map[string]bool{}
	src := s.source()
	for _, p := range []string{snakePattern, camelPattern, numberPattern, wordPattern} {
		for _, w := range regexp.MustCompile(p).FindAllString(src, -1) {
			out[w] = true
		}
	}
	for _, r := range append(slices.Clone(s.Rivals), s.Tool.Tool.Name) {
		out[r] = true
	}
	return out
}

// orderPatterns find sentences that give orders to the model that reads them, or
// pretend to be another part of its prompt, in the languages of package text.
var orderPatterns = sync.OnceValue(func() []*regexp.Regexp {
	return compiled(append(pretendPatterns(),
		`(?i)\b(always|never|must|only ever)\s+(be\s+)?(use|call|choose|select|prefer|pick|invoke|used|called|chosen|selected|preferred)\b`,
		`(?i)\b(alltid|aldrig|måste|siempre|nunca|sempre|immer|niemals)\s+(alltid\s+)?(använd|välj|anropa|usa|usar|use|utiliza|utilize|elige|escolha|verwende|benutze|wähle)`,
		`(?i)\b(använd|välj|anropa)\s+(alltid|aldrig)\b`,
		`(?i)\b(for|to)\s+(any|all|every)\s+(question|request|query|task)s?\b`,
	))
})

func compiled(patterns []string) []*regexp.Regexp {
	out := make([]*regexp.Regexp, len(patterns))
	for i, p := range patterns {
		out[i] = regexp.MustCompile(p)
	}
	return out
}

// pretendPatterns are the patterns that no description of a tool needs: "always use absolute
// paths" is advice about an argument.
func pretendPatterns() []string {
	return []string{
		`(?i)\b(ignore|disregard|forget|override|bypass)\b.{0,60}\b(instruction|prompt|rule|previous|prior|above|earlier|other tool|all)`,
		`(?i)\b(ignorera|bortse från|glöm|ignora|olvida|esqueça|ignoriere|vergiss)\b.{0,60}(instru|anvisning|regler|reglas|regras|andra|otras|outras|andere)`,
		`(?i)\b(instead of|rather than|before)\s+(any|all|every|the)\s+other\s+tool`,
		`(?i)\bdo not (use|call|choose) (any|other)`,
		`(?i)\b(system|developer) (prompt|message)\b|\byou are (now )?(a|an|the)\b|\bas an ai\b`,
		`(?im)<\|[^|]*\|>|\[/?INST\]|</?(system|assistant|user|tool|tools|instructions?)>|^\s*(system|assistant|user)\s*:`,
	}
}

// orders lists the sentences of a description that give orders, without sentences of the original
// description.
func (s *Suspect) orders(d string) []string {
	var out []string
	for _, m := range orderPatterns() {
		if found := m.FindString(d); found != "" && !m.MatchString(s.Tool.Tool.Description) {
			out = append(out, fmt.Sprintf("it orders whoever reads it: %q", clip(found)))
		}
	}
	return out
}

// maxPlanted is how many bytes of a text Planted reads, because the checks take time in
// proportion to the length.
const maxPlanted = 64 << 10

// Planted lists parts of a third party's text that steer the model instead of describing a tool.
// These are instructions to the reader, invisible characters, and words about hiding something from
// the user. An empty list is no proof. Only the first 64 KiB of a text are read.
func Planted(d string) []string {
	var out []string
	d = strings.ToValidUTF8(d[:min(len(d), maxPlanted)], "")
	if i := strings.IndexFunc(d, func(r rune) bool { return r != '\t' && r != '\r' && hidden(r) }); i >= 0 {
		r, _ := utf8.DecodeRuneInString(d[i:])
		out = append(out, fmt.Sprintf("it has a character that is not shown (U+%04X)", r))
	}
	for _, m := range plantedPatterns() {
		if found := m.FindString(d); found != "" {
			out = append(out, fmt.Sprintf("it orders whoever reads it: %q", clip(found)))
		}
	}
	return out
}

// plantedPatterns find typical parts of poisoned descriptions of tools: marks that demand
// attention, secrecy from the user, files with keys, and orders about other tools.
var plantedPatterns = sync.OnceValue(func() []*regexp.Regexp {
	return compiled(append(pretendPatterns(),
		`(?i)\b(always|never|must|only ever)\s+(be\s+)?(use|call|choose|select|prefer|pick|invoke|used|called|chosen|selected|preferred)\s+(this|it|first|instead|before|for (all|any|every))\b`,
		`(?i)</?(important|critical|secret|hidden|attention|urgent)>|<!--`,
		`(?i)\b(do not|don't|never|without)\s+(ever\s+)?(tell|telling|mention|mentioning|inform|informing|reveal|revealing|show|showing|notify|notifying|alert|alerting|asking)\b.{0,40}\b(user|human|anyone|anybody)`,
		`(?i)\b(no|nunca|nicht|inte|não)\s+(le\s+)?(digas|menciones|sage|berätta|erwähne|diga|mencione)\b`,
		`(?i)\b(before|after|whenever|every time)\s+(using|calling|you (use|call))\s+(this|any|the|another)\b.{0,40}\b(read|send|call|fetch|include|pass|use)\b`,
		`(?i)~/\.(ssh|aws|cursor|config|netrc)\b|\bid_rsa\b|\.env\b.{0,40}\b(content|read|send)`,
	))
})
