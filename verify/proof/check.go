// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package proof

import (
	"fmt"
	"io"
	"slices"
)

// listed is the largest number of printed lines of one kind.
const listed = 40

// Check counts the comparisons made and the comparisons due.
type Check struct {
	out        io.Writer
	name, part string
	subjects   map[string]*subject
	order      []string
	differ     []difference
	problems   []string
	explained  []Explanation
}

// subject is a group of comparisons: the rows of a file, the figures of a page.
type subject struct {
	due, agree, differ int
	source             string
	items              map[string]bool
}

func (s *subject) compared() int { return s.agree + s.differ }

type difference struct{ name, detail string }

// New starts a check of a part of the data; explained are the expected disagreements. The check prints
// to out.
func New(out io.Writer, name, part string, explained []Explanation) *Check {
	c := &Check{out: out, name: name, part: part, subjects: map[string]*subject{}}
	for _, e := range explained {
		if e.Check == name && e.Part == part {
			c.explained = append(c.explained, e)
		}
	}
	return c
}

// Printf writes a line about the measurements of the check.
func (c *Check) Printf(format string, args ...any) { fmt.Fprintf(c.out, format, args...) }

// Out is the writer of the check's output.
func (c *Check) Out() io.Writer { return c.out }

// Problem fails the check for a reason other than a comparison, such as a file that
// cannot be read.
func (c *Check) Problem(err error) {
	if err != nil {
		c.problems = append(c.problems, err.Error())
	}
}

func (c *Check) subject(name string) *subject {
	s := c.subjects[name]
	if s == nil {
		s = &subject{items: map[string]bool{}}
		c.subjects[name] = s
		c.order = append(c.order, name)
	}
	return s
}

// Due adds n comparisons of a subject to the due ones, as its source counts them.
func (c *Check) Due(name string, n int, source string) {
	s := c.subject(name)
	s.due += n
	s.source = source
}

// DueFigures makes every figure due for which leave returns no reason. Reasons are printed with the
// number of figures that they leave out.
func (c *Check) DueFigures(set string, f *Figures, leave func(path []string) string) {
	reasons, out := map[string]int{}, []string{}
	for i := range f.list {
		reason := ""
		if leave != nil {
			reason = leave(f.list[i].Path)
		}
		if reason == "" {
			c.Due(figuresOf(set), 1, f.Source)
			continue
		}
		if reasons[reason] == 0 {
			out = append(out, reason)
		}
		reasons[reason]++
	}
	for _, r := range out {
		c.Printf("%s: %d figures are not compared: %s\n", set, reasons[r], r)
	}
}

func figuresOf(set string) string { return set + " figures" }

// Figure compares a number with the published one at a path. An unpublished number fails the check.
func (c *Check) Figure(set string, f *Figures, own float64, path ...string) bool {
	published, agrees, known := f.Agrees(own, path...)
	name := (&Figure{Path: path}).Name()
	if !known {
		c.Problem(fmt.Errorf("%s: %s publishes no figure %s", set, f.Source, name))
		return false
	}
	return c.Compare(figuresOf(set), name, agrees, "%v, published %s", own, published)
}

// Compare counts one comparison of a subject. The same item twice fails the check.
func (c *Check) Compare(name, item string, agree bool, detail string, args ...any) bool {
	s := c.subject(name)
	if s.items[item] {
		c.problems = append(c.problems, fmt.Sprintf("%s: %s was compared twice", name, item))
		return agree
	}
	s.items[item] = true
	if agree {
		s.agree++
		return true
	}
	s.differ++
	c.differ = append(c.differ, difference{name + ": " + item, fmt.Sprintf(detail, args...)})
	return false
}

// Has reports whether an item of a subject was compared.
func (c *Check) Has(name, item string) bool {
	return c.subjects[name] != nil && c.subjects[name].items[item]
}

// Agree counts agreeing comparisons of a subject without names.
func (c *Check) Agree(name string, n int) { c.subject(name).agree += n }

// Tally returns how many comparisons of a subject were made so far, and how many agree.
func (c *Check) Tally(name string) (agree, compared, due int) {
	s := c.subject(name)
	return s.agree, s.compared(), s.due
}

// Explain sets the reason why a later comparison disagrees.
func (c *Check) Explain(name, item, reason string) {
	c.explained = append(c.explained,
		Explanation{Check: c.name, Part: c.part, Name: name + ": " + item, Reason: reason})
}

// explain uses up the explanation of a disagreement.
func (c *Check) explain(name string) (string, bool) {
	i := slices.IndexFunc(c.explained, func(e Explanation) bool { return e.Name == name })
	if i < 0 {
		return "", false
	}
	c.explained[i].used = true
	return c.explained[i].Reason, true
}

// list prints at most listed lines.
func (c *Check) list(lines []string) {
	for i, line := range lines {
		if i == listed {
			c.Printf("… and %d more\n", len(lines)-i)
			return
		}
		c.Printf("%s\n", line)
	}
}

// Close prints the problems and, last, how many of the due comparisons agree. It returns whether the
// check passed.
func (c *Check) Close() bool {
	var short, differ, explained []string
	agree, total, missing := 0, 0, 0
	for _, name := range c.order {
		s := c.subjects[name]
		agree += s.agree
		total += max(s.due, s.compared())
		switch {
		case s.compared() < s.due:
			missing += s.due - s.compared()
			short = append(short,
				fmt.Sprintf("SHORT %s: %d compared, %d due by %s", name, s.compared(), s.due, s.source))
		case s.compared() > s.due:
			short = append(short,
				fmt.Sprintf("MORE %s: %d compared, %d due by %s", name, s.compared(), s.due, orUnknown(s.source)))
		}
	}
	for _, d := range c.differ {
		if reason, ok := c.explain(d.name); ok {
			explained = append(explained, fmt.Sprintf("explained %s: %s (%s)", d.name, d.detail, reason))
		} else {
			differ = append(differ, fmt.Sprintf("DIFFERS %s: %s", d.name, d.detail))
		}
	}
	var stale []string
	for _, e := range c.explained {
		if !e.used && len(short)+len(c.problems) == 0 { // else it may belong to a comparison that was not made
			stale = append(stale, fmt.Sprintf("STALE %s: the explanation is not needed, nothing differs there", e.Name))
		}
	}
	var failed []string
	for _, p := range c.problems {
		failed = append(failed, "FAILED "+p)
	}
	if total == 0 {
		failed = append(failed, "FAILED there is nothing to compare")
	}
	for _, lines := range [][]string{explained, failed, short, differ, stale} {
		c.list(lines)
	}
	c.Printf("%s: %d of %d compared agree", c.name, agree, total)
	for _, n := range []struct {
		n    int
		what string
	}{
		{len(explained), "explained"},
		{len(differ), "not explained"},
		{missing, "not compared"},
		{len(stale), "explained in vain"},
		{len(failed), "failed otherwise"},
	} {
		if n.n > 0 {
			c.Printf(", %d %s", n.n, n.what)
		}
	}
	c.Printf("\n")
	return len(short)+len(differ)+len(stale)+len(failed) == 0
}

func orUnknown(source string) string {
	if source == "" {
		return "no index"
	}
	return source
}
