// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package offline

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// filler fills the slots of one call from the facts of a text. A span is used
// once per call.
type filler struct {
	f    *facts
	p    *patterns
	from json.RawMessage // results of earlier calls, a JSON list; nil: none
	// sure counts the required slots with a certain value (by an enum, a pattern, a format, or an
	// adjacent word), not only by position.
	sure  int
	taken []string // values of enums
}

// object fills the properties of an object. n counts the filled required ones, need all required
// ones.
func (x *filler) object(o *param) (args json.RawMessage, n, need int, keys []string) {
	filled := map[*param]json.RawMessage{}
	for _, p := range o.props {
		x.claim(p)
	}
	// Specific values first, so that a free text does not take what an enum or a date needs.
	for pass := range 3 {
		for _, p := range o.props {
			if filled[p] == nil && x.pass(p) == pass {
				if v := x.fill(p); v != nil {
					filled[p] = v
				}
			}
		}
	}
	out := []byte{'{'}
	for _, p := range o.props {
		if p.required {
			need++
		}
		v := filled[p]
		if v == nil {
			continue
		}
		if p.required {
			n++
		}
		if len(keys) > 0 {
			out = append(out, ',')
		}
		keys = append(keys, p.name)
		k, _ := json.Marshal(p.name)
		out = append(append(append(out, k...), ':'), v...)
	}
	return append(out, '}'), n, need, keys
}

// pass orders slots: certain values, values with an adjacent word, the rest.
func (x *filler) pass(p *param) int {
	switch {
	case p.fixed != nil, p.enum != nil, p.pattern != nil, p.format != "", p.kind == "boolean":
		return 0
	case (p.kind == "number" || p.kind == "integer") && !p.required, p.kind == "object", p.kind == "array":
		return 1
	case p.kind == "number" || p.kind == "integer":
		if x.nearest(p) < 0 {
			return 2
		}
		return 1
	}
	return 1
}

func (x *filler) point(p *param) {
	if p.required {
		x.sure++
	}
}

// fill gives a value of one slot, nil when the text has none.
func (x *filler) fill(p *param) json.RawMessage {
	switch {
	case p.fixed != nil:
		return p.fixed
	case p.enum != nil:
		return x.enum(p)
	}
	if v := x.result(p); v != nil {
		return v
	}
	switch p.kind {
	case "boolean":
		return x.boolean(p)
	case "integer", "number":
		return x.number(p)
	case "array":
		return x.array(p)
	case "object":
		args, _, _, keys := x.object(p)
		if len(keys) == 0 {
			return nil
		}
		return args
	case "string", "any", "":
		if s, ok := x.str(p); ok {
			b, _ := json.Marshal(s)
			return b
		}
	}
	return nil
}

// claim removes values of enums from the list of names: Celsius is no city.
func (x *filler) claim(p *param) {
	for _, c := range p.enum {
		for i, s := range x.f.names {
			if len(c.text) > 2 && fold(s.text) == fold(c.text) {
				x.f.names[i].used = true
			}
		}
	}
}

// enum chooses one value: where two slots share their values, one that no other slot has; for a
// destination the last named one.
func (x *filler) enum(p *param) json.RawMessage {
	list := x.enums(p, 1)
	if len(list) == 0 {
		return nil
	}
	if all := x.enums(p, len(p.enum)); p.named("from", "to", "source", "target", "origin", "destination") &&
		len(all) > 1 {
		if p.named("to", "target", "destination") {
			slices.Reverse(all)
		}
		list = all
		for i, c := range all {
			if !slices.Contains(x.taken, string(c.raw)) {
				list = all[i:]
				break
			}
		}
	}
	x.point(p)
	x.taken = append(x.taken, string(list[0].raw))
	return list[0].raw
}

// enums finds the values that the text names, longest text first where two
// overlap, at most most of them.
func (x *filler) enums(p *param, most int) []choice {
	type hit struct {
		c        choice
		at, size int
	}
	var hits []hit
	for _, c := range p.enum {
		best := hit{at: -1}
		for i, t := range append([]string{c.text}, c.also...) {
			w := " " + strings.Join(words(t), " ") + " "
			if len(strings.TrimSpace(w)) < 3 && i == 0 && t != strings.ToUpper(t) || strings.TrimSpace(w) == "" {
				continue
			}
			if len(strings.TrimSpace(w)) < 3 && i == 0 && !x.exactToken(t) {
				continue
			}
			if at := strings.Index(x.f.folded, w); at >= 0 && len(w) > best.size {
				best = hit{c, at, len(w)}
			} else if at < 0 && best.at < 0 && x.stemmed(t) {
				best = hit{c, len(x.f.folded), 1}
			}
		}
		if best.at >= 0 {
			hits = append(hits, best)
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int {
		if most == 1 && a.size != b.size {
			return b.size - a.size
		}
		return a.at - b.at
	})
	var out []choice
	for _, h := range hits {
		if len(out) < most {
			out = append(out, h.c)
		}
	}
	return out
}

// exactToken finds a short value only as it is written.
func (x *filler) exactToken(t string) bool {
	return slices.ContainsFunc(tokens(x.f.text), func(s span) bool { return s.text == t })
}

// stemmed reports whether all words of a value are in the text by their stems.
func (x *filler) stemmed(t string) bool {
	ws := words(t)
	for _, w := range ws {
		if len(w) < 4 || !x.f.stems[stem(en, w)] {
			return false
		}
	}
	return len(ws) > 0
}

func (x *filler) boolean(p *param) json.RawMessage {
	has := func(list string) bool {
		for w := range strings.FieldsSeq(list) {
			if strings.Contains(x.f.folded, " "+w+" ") {
				return true
			}
		}
		return false
	}
	if p.named("on", "enabled", "enable", "active", "power", "state") {
		switch {
		case has("off disable disabled deactivate apaga apagar desligar desliga aus"):
			return json.RawMessage("false")
		case has("on enable enabled activate enciende encender ligar liga an"):
			return json.RawMessage("true")
		}
	}
	ws := strings.Fields(x.f.folded)
	for i, w := range ws {
		s := stem(en, w)
		if isFunction(en, w) ||
			!slices.ContainsFunc(p.nameWords, func(n string) bool { return stem(en, n) == s && len(n) > 2 }) {
			continue
		}
		for _, b := range ws[max(0, i-3):i] {
			if strings.Contains(" no not without don t never exclude excluding sin sem utan ohne ", " "+b+" ") {
				return json.RawMessage("false")
			}
		}
		return json.RawMessage("true")
	}
	return nil
}

// number uses the free number next to the slot's own words, else, for a required slot, the first
// free one.
func (x *filler) number(p *param) json.RawMessage {
	at := x.nearest(p)
	if at >= 0 {
		x.point(p)
	} else if p.required {
		at = slices.IndexFunc(x.f.numbers, func(s span) bool { return !s.used && fits(p, s.value) })
	}
	if at < 0 {
		return nil
	}
	x.f.numbers[at].used = true
	return numberJSON(x.f.numbers[at])
}

func numberJSON(s span) json.RawMessage {
	if _, err := strconv.ParseFloat(s.text, 64); err == nil && json.Valid([]byte(s.text)) {
		return json.RawMessage(s.text)
	}
	return json.RawMessage(strconv.FormatFloat(s.value, 'f', -1, 64))
}

func fits(p *param, v float64) bool {
	return (p.kind != "integer" || v == math.Trunc(v)) && (p.min == nil || v >= *p.min) && (p.max == nil || v <= *p.max)
}

// nearest is the free number with the slot's words closest around it; -1 when
// none has any within four words.
func (x *filler) nearest(p *param) int {
	best, most := -1, 0.0
	for i, s := range x.f.numbers {
		if s.used || !fits(p, s.value) {
			continue
		}
		score := x.words(p, x.f.text[max(0, s.from-60):s.from], true) +
			x.words(p, x.f.text[s.to:min(len(x.f.text), s.to+40)], false)
		if score > most {
			best, most = i, score
		}
	}
	return best
}

// words scores the words before or after a number: nearer words count more, and words of the name
// more than words of the description.
func (x *filler) words(p *param, text string, before bool) float64 {
	ws := words(strings.ToValidUTF8(text, " "))
	if before {
		slices.Reverse(ws)
	}
	score := 0.0
	for i, w := range ws[:min(4, len(ws))] {
		s := stem(en, w)
		if !p.near[s] || isFunction(en, w) {
			continue
		}
		weight := 1.0
		if slices.ContainsFunc(p.nameWords, func(n string) bool { return stem(en, n) == s }) {
			weight = 3
		}
		score += weight / float64(i+1)
	}
	return score
}

func (x *filler) array(p *param) json.RawMessage {
	it := p.items
	if it == nil {
		it = &param{kind: "string", name: p.name, nameWords: p.nameWords, near: p.near}
	}
	var parts []string
	switch {
	case it.enum != nil:
		for _, c := range x.enums(it, 50) {
			parts = append(parts, string(c.raw))
		}
	case it.kind == "number" || it.kind == "integer":
		for i, s := range x.f.numbers {
			if !s.used && fits(it, s.value) {
				x.f.numbers[i].used = true
				parts = append(parts, string(numberJSON(s)))
			}
		}
	case it.kind == "object":
		if args, n, need, keys := x.object(it); len(keys) > 0 && n == need {
			parts = append(parts, string(args))
		}
	default:
		parts = x.strings(it, p.required)
	}
	if len(parts) == 0 {
		return nil
	}
	return json.RawMessage("[" + strings.Join(parts, ",") + "]")
}

// strings are the free values of the kind of the elements.
func (x *filler) strings(p *param, required bool) []string {
	var out []string
	for {
		s, ok := x.str(p)
		if !ok && required {
			s, ok = take(x.f.names, nil)
		}
		if !ok || len(out) > 50 {
			return out
		}
		b, _ := json.Marshal(s)
		if p.format != "" && len(out) > 0 && out[len(out)-1] == string(b) {
			return out
		}
		out = append(out, string(b))
		if len(x.f.quoted)+len(x.f.names)+len(x.f.ids)+len(x.f.emails)+len(x.f.urls)+len(x.f.dates) == 0 {
			return out
		}
	}
}

// take returns the first free span that ok accepts (nil: any).
func take(list []span, ok func(span) bool) (string, bool) {
	for i := range list {
		if !list[i].used && (ok == nil || ok(list[i])) {
			list[i].used = true
			return list[i].text, true
		}
	}
	return "", false
}

// str fills a string slot by its name and format.
func (x *filler) str(p *param) (string, bool) {
	if s, ok := x.typed(p); ok {
		x.point(p)
		return s, true
	}
	switch {
	case p.format != "", p.pattern != nil, p.named("email", "mail", "url", "uri", "link", "date", "time"):
		return "", false
	}
	if s, ok := x.quote(p); ok {
		return s, true
	}
	if p.named("id", "ids", "reference", "sku", "code") {
		return "", false
	}
	if s, ok := x.place(p); ok {
		x.point(p)
		return s, true
	}
	return x.free(p)
}

// typed uses values with a recognised form.
func (x *filler) typed(p *param) (string, bool) {
	f := x.f
	switch {
	case p.format == "email" || p.named("email", "mail"):
		return take(f.emails, nil)
	case p.format == "uri" || p.format == "url" || p.named("url", "uri", "link", "website"):
		return take(f.urls, nil)
	case p.format == "date" || p.format == "date-time" || p.named("date", "day", "datetime") || p.named("check") &&
		p.named("in", "out"):
		return x.date(p)
	case p.pattern != nil:
		return x.pattern(p)
	case p.named("time", "hour", "clock"):
		return x.clock()
	case p.named("id", "ids", "reference", "code", "sku", "ticket", "number"):
		if s, ok := take(f.ids, nil); ok {
			return strings.TrimPrefix(s, "#"), true
		}
		if at := x.nearest(p); at >= 0 {
			f.numbers[at].used = true
			return f.numbers[at].text, true
		}
	case p.named("to", "recipient", "receiver") && len(f.emails) > 0:
		return take(f.emails, nil)
	}
	return "", false
}

// quote uses a quoted text: the text with the slot's name before it, else the first.
func (x *filler) quote(p *param) (string, bool) {
	near := func(s span) bool {
		ws := words(strings.ToValidUTF8(x.f.text[max(0, s.from-30):s.from], " "))
		for _, w := range ws[max(0, len(ws)-2):] {
			if slices.Contains(p.nameWords, w) {
				return true
			}
		}
		return false
	}
	if s, ok := take(x.f.quoted, near); ok {
		return s, true
	}
	return take(x.f.quoted, nil)
}

func (x *filler) date(p *param) (string, bool) {
	s, ok := take(x.f.dates, nil)
	if ok && p.format == "date" && len(s) > 10 {
		s = s[:10]
	}
	if ok && p.format == "date-time" && len(s) == 10 {
		s += "T00:00:00Z"
	}
	return s, ok
}

// pattern uses the match of the schema's own expression, or a time written as 7pm.
func (x *filler) pattern(p *param) (string, bool) {
	for _, m := range p.pattern.FindAllStringSubmatchIndex(x.f.text, 50) {
		s := newSpan(x.f.text, m[2], m[3])
		if slices.ContainsFunc(x.f.ids, func(o span) bool { return o.used && o.from == s.from }) {
			continue
		}
		x.f.ids = append(x.f.ids, span{text: s.text, from: s.from, to: s.to, used: true})
		return s.text, true
	}
	if t, ok := x.clock(); ok && p.pattern.MatchString(t) {
		return t, true
	}
	return "", false
}

func (x *filler) clock() (string, bool) {
	m := x.p.clock.FindStringSubmatch(x.f.text)
	if m == nil {
		return "", false
	}
	h, _ := strconv.Atoi(m[1] + m[4])
	mins := m[2] + m[5]
	if mins == "" {
		mins = "00"
	}
	if strings.EqualFold(m[3], "pm") && h < 12 {
		h += 12
	}
	if strings.EqualFold(m[3], "am") && h == 12 {
		h = 0
	}
	return fmt.Sprintf("%02d:%s", h, mins), h < 24
}

// place uses a capitalised name, by the preposition before it.
func (x *filler) place(p *param) (string, bool) {
	at := func(list string) func(span) bool {
		return func(s span) bool { return s.before != "" && strings.Contains(" "+list+" ", " "+s.before+" ") }
	}
	switch {
	case p.named("origin", "from", "source", "departure", "start", "sender"):
		return take(x.f.names, at("from de desde fran von ab leaving"))
	case p.named("destination", "to", "target", "arrival", "end", "recipient", "receiver"):
		return take(x.f.names, at("to a para till nach hacia towards for"))
	case p.named("city", "location", "place", "country", "region", "state", "town", "address", "area", "where",
		"timezone"):
		s, ok := take(x.f.names, at("in at for en em i near around of from to till for von de para"))
		if !ok && p.required {
			s, ok = take(x.f.names, nil)
		}
		return s, ok
	}
	return "", false
}

// free fills names and texts without other evidence: only required slots.
func (x *filler) free(p *param) (string, bool) {
	if !p.required {
		return "", false
	}
	if len(x.f.quoted) > 0 && !p.named("city", "name", "location") {
		return "", false // a value meant as text is quoted, and this is not
	}
	if p.named("query", "q", "question", "search", "keyword", "keywords", "topic", "subject", "expression", "term") {
		return x.after("about for on of sobre acerca om uber")
	}
	if p.named("message", "text", "body", "content", "note", "title", "description", "reason", "comment") {
		return x.after("saying that say with about :")
	}
	return take(x.f.names, nil)
}

// after is the text after the last of the words, to the end of the sentence.
func (x *filler) after(list string) (string, bool) {
	best := -1
	for _, t := range tokens(x.f.text) {
		if strings.Contains(" "+list+" ", " "+fold(t.text)+" ") && best < 0 {
			best = t.to
		}
	}
	if best < 0 {
		return "", false
	}
	s := strings.TrimSpace(x.f.text[best:])
	if i := strings.IndexAny(s, ".?!\n"); i > 0 {
		s = s[:i]
	}
	return s, s != ""
}
