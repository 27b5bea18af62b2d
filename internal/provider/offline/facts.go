// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package offline

import (
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// span is a part of a text that may become a value.
type span struct {
	text     string
	from, to int    // bytes in the text
	before   string // the folded word before it
	value    float64
	used     bool
}

// facts are the values in a text, found once.
type facts struct {
	text   string
	folded string // words joined by one space, with one at each end
	stems  map[string]bool

	numbers, dates, names, quoted, ids, emails, urls []span
}

// patterns compile once per caller.
type patterns struct {
	number, email, link, id, quoted, iso, dayMonth, monthDay, inDays, clock *regexp.Regexp
}

func newPatterns() *patterns {
	const months = `(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:t(?:ember)?)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?` +
		`|enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre` +
		`|janeiro|fevereiro|março|maio|junho|julho|setembro|outubro|novembro|dezembro)`
	return &patterns{
		number: regexp.MustCompile(`-?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?`),
		email:  regexp.MustCompile(`[\w.+-]+@[\w-]+(?:\.[\w-]+)+`),
		link:   regexp.MustCompile(`https?://[^\s"'<>]+[^\s"'<>.,;:!?)]`),
		id:     regexp.MustCompile(`\b(?:[A-Z]+[-_]?\d[\w-]*|[A-Za-z]+[-_]\d[\w-]*|#\d+|\d+[-_][\w-]*\d\w*)`),
		quoted: regexp.MustCompile(`"([^"]+)"|“([^”]+)”|«([^»]+)»|(?:^|[\s(:])'([^']+)'(?:$|[\s.,;:!?)])`),
		iso:    regexp.MustCompile(`\b(\d{4})-(\d{2})-(\d{2})(?:T[\d:.]+(?:Z|[+-]\d\d:\d\d)?)?\b`),
		dayMonth: regexp.MustCompile(`(?i)\b(\d{1,2})(?:st|nd|rd|th)?\s+(?:of\s+|de\s+)?` + months +
			`\b(?:,?\s+(?:de\s+)?(\d{4}))?`),
		monthDay: regexp.MustCompile(`(?i)\b` + months + `\s+(\d{1,2})(?:st|nd|rd|th)?\b(?:,?\s+(\d{4}))?`),
		inDays:   regexp.MustCompile(`(?i)\bin (\d+) days?\b`),
		clock:    regexp.MustCompile(`(?i)\b(\d{1,2})(?::(\d{2}))?\s*(am|pm)\b|\b(\d{1,2}):(\d{2})\b`),
	}
}

// read finds the facts of a text; asOf is today, zero when not known. A word at the beginning of
// a sentence that verb accepts is no part of a name.
func (p *patterns) read(text string, l lang, asOf time.Time, verb func(string) bool) *facts {
	f := &facts{text: text, stems: map[string]bool{}}
	ws := words(text)
	f.folded = " " + strings.Join(ws, " ") + " "
	for _, w := range ws {
		for _, s := range stems(l, w) {
			f.stems[s] = true
		}
	}
	f.emails, f.urls = p.find(p.email, text), p.find(p.link, text)
	f.quoted = p.quotes(text)
	f.dates = p.readDates(text, asOf)
	for _, s := range p.find(p.id, text) {
		if !inside(s, f.dates, f.urls, f.emails) {
			f.ids = append(f.ids, s)
		}
	}
	clocks := p.find(p.clock, text)
	for _, s := range p.find(p.number, text) {
		if strings.HasPrefix(s.text, "-") && s.from > 0 && !unicode.IsSpace(rune(text[s.from-1])) {
			s.text, s.from = s.text[1:], s.from+1
		}
		v, err := strconv.ParseFloat(strings.ReplaceAll(s.text, ",", ""), 64)
		if s.value = v; err == nil && !inside(s, f.dates, f.urls, f.emails, f.ids, clocks) {
			f.numbers = append(f.numbers, s)
		}
	}
	f.numbers = append(f.numbers, numberWords(text)...)
	f.names = capitals(text, verb)
	return f
}

func (p *patterns) find(re *regexp.Regexp, text string) []span {
	var out []span
	for _, at := range re.FindAllStringIndex(text, 200) {
		out = append(out, newSpan(text, at[0], at[1]))
	}
	return out
}

func newSpan(text string, from, to int) span {
	ws := words(text[max(0, from-40):from])
	s := span{text: text[from:to], from: from, to: to}
	if len(ws) > 0 {
		s.before = ws[len(ws)-1]
	}
	return s
}

func (p *patterns) quotes(text string) []span {
	var out []span
	for _, m := range p.quoted.FindAllStringSubmatchIndex(text, 100) {
		for i := 2; i < len(m); i += 2 {
			if m[i] >= 0 {
				out = append(out, newSpan(text, m[i], m[i+1]))
			}
		}
	}
	return out
}

func inside(s span, lists ...[]span) bool {
	for _, list := range lists {
		for _, o := range list {
			if s.from >= o.from && s.to <= o.to {
				return true
			}
		}
	}
	return false
}

// numberWords finds small numbers written as words; "one" is mostly no number.
func numberWords(text string) []span {
	names := strings.Fields("zero one two three four five six seven eight nine ten eleven twelve")
	var out []span
	for _, s := range tokens(text) {
		for n, name := range names {
			if !strings.EqualFold(s.text, name) {
				continue
			}
			s = newSpan(text, s.from, s.to)
			if s.value = float64(n); n != 1 || s.before == "for" {
				out = append(out, s)
			}
		}
	}
	return out
}

// tokens are the runs without white space, without punctuation around them.
func tokens(text string) []span {
	var out []span
	from := -1
	for i, r := range text + " " {
		letter := unicode.IsLetter(r) || unicode.IsDigit(r) || r == '\'' || r == '’' || r == '-' || r == '.' ||
			unicode.Is(unicode.Mn, r)
		if letter && from < 0 {
			from = i
		}
		if !letter && from >= 0 {
			t := strings.TrimRight(text[from:min(i, len(text))], ".'’-")
			if t != "" {
				out = append(out, span{text: t, from: from, to: from + len(t)})
			}
			from = -1
		}
	}
	return out
}

// capitals finds names: runs of capitalised words, with small joining words
// inside (Rio de Janeiro). The first word of a sentence counts only when more
// follow it.
func capitals(text string, verb func(string) bool) []span {
	var out []span
	ts := tokens(text)
	for i := 0; i < len(ts); i++ {
		if !capital(ts[i].text) || strings.EqualFold(ts[i].text, "i") {
			continue
		}
		j := i
		for j+1 < len(ts) && joined(text, ts[j], ts[j+1]) {
			if capital(ts[j+1].text) {
				j++
			} else if j+2 < len(ts) && strings.Contains(" de da do of la le los las del the ", " "+ts[j+1].text+" ") &&
				capital(ts[j+2].text) && joined(text, ts[j+1], ts[j+2]) {
				j += 2
			} else {
				break
			}
		}
		from := i
		if starts(text, ts[i]) && j > i && (isFunctionAnywhere(ts[i].text) || verb(ts[i].text)) {
			from = i + 1
		}
		if from > i || !starts(text, ts[from]) || j > from {
			out = append(out, newSpan(text, ts[from].from, ts[j].to))
		}
		i = j
	}
	return out
}

func isFunctionAnywhere(w string) bool {
	w = fold(w)
	for _, l := range languages() {
		if isFunction(l, w) {
			return true
		}
	}
	return false
}

func capital(w string) bool {
	r := []rune(w)
	return len(r) > 0 && unicode.IsUpper(r[0])
}

func joined(text string, a, b span) bool { return strings.TrimSpace(text[a.to:b.from]) == "" }

// starts reports whether a token begins a sentence.
func starts(text string, t span) bool {
	before := strings.TrimRight(text[:t.from], " \t\n\"'“¿¡(")
	return before == "" || strings.HasSuffix(before, ".") || strings.HasSuffix(before, "?") ||
		strings.HasSuffix(before, "!") || strings.HasSuffix(before, ":")
}

// readDates finds calendar dates, as ISO text, in the order of the text.
func (p *patterns) readDates(text string, asOf time.Time) []span {
	var out []span
	add := func(at []int, iso string) {
		s := newSpan(text, at[0], at[1])
		if s.text = iso; iso != "" && !inside(s, out) {
			out = append(out, s)
		}
	}
	for _, m := range p.iso.FindAllStringSubmatchIndex(text, 50) {
		add(m, text[m[0]:m[1]])
	}
	for _, m := range p.dayMonth.FindAllStringSubmatchIndex(text, 50) {
		add(m, calendar(sub(text, m, 3), sub(text, m, 2), sub(text, m, 1), asOf))
	}
	for _, m := range p.monthDay.FindAllStringSubmatchIndex(text, 50) {
		add(m, calendar(sub(text, m, 3), sub(text, m, 1), sub(text, m, 2), asOf))
	}
	if !asOf.IsZero() {
		for _, s := range tokens(text) {
			if d, ok := relative(fold(s.text), asOf); ok {
				add([]int{s.from, s.to}, d)
			}
		}
		for _, m := range p.inDays.FindAllStringSubmatchIndex(text, 10) {
			if n, err := strconv.Atoi(sub(text, m, 1)); err == nil && n < 4000 {
				add(m, asOf.AddDate(0, 0, n).Format(time.DateOnly))
			}
		}
	}
	return out
}

func sub(text string, m []int, i int) string {
	if m[2*i] < 0 {
		return ""
	}
	return text[m[2*i]:m[2*i+1]]
}

// calendar makes an ISO date; without a year the next one after asOf, "" when
// that is not known or the day does not exist.
func calendar(year, month, day string, asOf time.Time) string {
	m := monthOf(fold(month))
	d, err := strconv.Atoi(day)
	if m == 0 || err != nil {
		return ""
	}
	y, err := strconv.Atoi(year)
	if err != nil {
		if asOf.IsZero() {
			return ""
		}
		y = asOf.Year()
		if time.Date(y, m, d, 23, 59, 0, 0, time.UTC).Before(asOf) {
			y++
		}
	}
	t := time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
	if t.Day() != d {
		return ""
	}
	return t.Format(time.DateOnly)
}

func monthOf(s string) time.Month {
	prefixes := [][]string{
		{"jan", "ene"},
		{"feb", "fev"},
		{"mar"},
		{"apr", "abr"},
		{"may", "mai"},
		{"jun"},
		{"jul"},
		{"aug", "ago"},
		{"sep", "set"},
		{"oct", "out"},
		{"nov"},
		{"dec", "dic", "dez"},
	}
	for i, ps := range prefixes {
		for _, p := range ps {
			if strings.HasPrefix(s, p) {
				return time.Month(i + 1)
			}
		}
	}
	return 0
}

// relative reads today, tomorrow and days of the week (the next one after asOf).
func relative(w string, asOf time.Time) (string, bool) {
	for days, names := range []string{
		" today tonight hoy hoje idag heute ",
		" tomorrow manana amanha imorgon morgen ",
	} {
		if strings.Contains(names, " "+w+" ") {
			return asOf.AddDate(0, 0, days).Format(time.DateOnly), true
		}
	}
	if w == "yesterday" {
		return asOf.AddDate(0, 0, -1).Format(time.DateOnly), true
	}
	for d := time.Sunday; d <= time.Saturday; d++ {
		if w == strings.ToLower(d.String()) {
			n := (int(d)-int(asOf.Weekday())+6)%7 + 1
			return asOf.AddDate(0, 0, n).Format(time.DateOnly), true
		}
	}
	return "", false
}
