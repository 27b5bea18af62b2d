// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jstemmer/go-junit-report/v2/junit"

	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/panel/gates"
	"github.com/callvet/callvet/stats/gate"
)

// GatesMarkdown writes a comment for a pull request: the sentence on the whole, a table, and below
// it the details of each gate that did not pass.
func GatesMarkdown(w io.Writer, r *gates.Report) error {
	var b strings.Builder
	several := severalTargets(r)
	fmt.Fprintf(&b, "### callvet gates: %s\n\n", overall(r))
	fmt.Fprintf(&b, "%s\n", plain.Markdown(r.Sentence))
	if r.Verdict == gate.Inconclusive && !r.Blocks {
		fmt.Fprintf(&b, "\n%s.\n", lenient)
	}
	if len(r.Verdicts) > 0 {
		b.WriteString("\n| verdict | gate | why |\n|---|---|---|\n")
	}
	for i := range r.Verdicts {
		v := &r.Verdicts[i]
		word := GateWord(v)
		if v.Verdict != gate.Pass {
			word = "**" + word + "**"
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", word, plain.Markdown(GateTitle(v, several)), plain.Markdown(sentences(v)))
	}
	for i := range r.Verdicts {
		if v := &r.Verdicts[i]; v.Verdict != gate.Pass {
			markdownDetails(&b, v, several)
		}
	}
	for _, s := range estimates(r) {
		fmt.Fprintf(&b, "\n%s\n", s)
	}
	if len(r.Warnings)+len(r.Notes) > 0 {
		b.WriteString("\n")
	}
	for _, warning := range r.Warnings {
		fmt.Fprintf(&b, "- warning: %s\n", plain.Markdown(warning))
	}
	for _, note := range r.Notes {
		fmt.Fprintf(&b, "- note: %s\n", plain.Markdown(note))
	}
	if subject := plain.Line(r.Subject); subject != "" {
		fmt.Fprintf(&b, "\n%s", plain.Markdown(subject))
		if r.Baseline != "" {
			fmt.Fprintf(&b, " against %s", plain.Markdown(r.Baseline))
		}
		fmt.Fprintf(&b, ", policy %s\n", r.Policy)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// estimates names the population of the verdicts.
func estimates(r *gates.Report) []string {
	out := []string{}
	for _, p := range r.Populations() {
		out = append(out, p.Sentence())
	}
	return out
}

// sentences returns the sentence of a gate, with the sentence on the baseline if there is one.
func sentences(v *gates.Verdict) string {
	if v.Against == "" {
		return v.Sentence
	}
	return v.Sentence + ". Baseline: " + v.Against
}

func markdownDetails(b *strings.Builder, v *gates.Verdict, several bool) {
	lines := details(v)
	if len(lines) == 0 {
		return
	}
	fmt.Fprintf(b, "\n**%s**\n\n", plain.Markdown(GateTitle(v, several)))
	for _, l := range lines {
		fmt.Fprintf(b, "- %s\n", plain.Markdown(l))
	}
}

// details returns the lines below the sentence of a gate that did not pass.
func details(v *gates.Verdict) []string {
	var out []string
	if v.Cure != "" {
		out = append(out, plain.Line(v.Cure))
	}
	for _, p := range v.Open {
		out = append(out, "open: "+placeText(p))
	}
	if v.Exploratory != nil && *v.Exploratory < exploratory {
		out = append(out, exploratoryText(v))
	}
	for _, n := range v.Notes {
		out = append(out, "note: "+plain.Line(n))
	}
	return out
}

func overall(r *gates.Report) string {
	switch r.Verdict {
	case gate.Pass:
		return "passed"
	case gate.Fail:
		return "failed"
	}
	return "inconclusive"
}

// GatesJUnit writes one test case for each verdict. A hard gate that failed is a
// failure; one that is inconclusive is a failure of that type under the strict
// policy and skipped under the lenient one. A soft gate is never a failure.
func GatesJUnit(w io.Writer, r *gates.Report) error {
	suite := junit.Testsuite{Name: "callvet gates", Time: "0.000"}
	suite.AddProperty("callvet.subject", plain.XML(r.Subject))
	if r.Baseline != "" {
		suite.AddProperty("callvet.baseline", plain.XML(r.Baseline))
	}
	suite.AddProperty("callvet.policy", string(r.Policy))
	suite.AddProperty("callvet.population", strings.Join(estimates(r), " "))
	for _, note := range r.Notes {
		suite.AddProperty("callvet.note", plain.XML(note))
	}
	several := severalTargets(r)
	for i := range r.Verdicts {
		v := &r.Verdicts[i]
		tc := junit.Testcase{Name: plain.XML(GateTitle(v, several)), Classname: "callvet.gates", Time: "0.000"}
		res := &junit.Result{
			Message: plain.XML(plain.Line(v.Sentence)),
			Type:    overall(&gates.Report{Verdict: v.Verdict}),
			Data:    plain.XML(strings.Join(append([]string{plain.Line(sentences(v))}, details(v)...), "\n")),
		}
		switch {
		case v.Verdict == gate.Pass:
			tc.SystemOut = &junit.Output{Data: plain.XML(plain.Line(sentences(v)))}
		case v.Gate.Severity == gates.Soft || v.Verdict != gate.Fail && r.Policy == gate.Lenient:
			tc.Skipped = &junit.Result{Message: res.Message}
		default:
			tc.Failure = res
		}
		suite.AddTestcase(tc)
	}
	if len(r.Warnings) > 0 {
		lines := make([]string, len(r.Warnings))
		for i, warning := range r.Warnings {
			lines[i] = "warning: " + plain.Line(warning)
		}
		suite.SystemErr = &junit.Output{Data: plain.XML(strings.Join(lines, "\n"))}
	}
	if r.Blocks && unnamed(r) {
		suite.AddTestcase(junit.Testcase{
			Name: "gates", Classname: "callvet.gates", Time: "0.000",
			Failure: &junit.Result{Message: plain.XML(plain.Line(r.Sentence)), Type: overall(r)},
		})
	}
	all := junit.Testsuites{Name: "callvet gates", Time: "0.000"}
	all.AddSuite(suite)
	return writeJUnit(w, &all)
}

// GatesAnnotations writes workflow commands of GitHub Actions. A gate that stops the build is an
// error, and each other one that did not pass is a warning. It writes a notice when all passed.
// Gates with a place in a file are shown there.
func GatesAnnotations(w io.Writer, r *gates.Report) error {
	var b strings.Builder
	several := severalTargets(r)
	for i := range r.Verdicts {
		v := &r.Verdicts[i]
		level := "error"
		switch {
		case v.Verdict == gate.Pass:
			continue
		case v.Gate.Severity == gates.Soft || v.Verdict != gate.Fail && r.Policy == gate.Lenient:
			level = "warning"
		}
		text := plain.Line(v.Sentence)
		if d := details(v); len(d) > 0 {
			text += "\n" + strings.Join(d, "\n")
		}
		annotate(&b, level, v, GateTitle(v, several), text)
	}
	switch {
	case r.Blocks && unnamed(r):
		annotate(&b, "error", nil, "gates "+overall(r), plain.Line(r.Sentence))
	case b.Len() == 0:
		annotate(&b, "notice", nil, "gates "+overall(r), plain.Line(r.Sentence))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// unnamed reports whether no hard gate gives the reason why the build stops: there is none, or
// nothing was checked.
func unnamed(r *gates.Report) bool {
	return !slices.ContainsFunc(r.Verdicts,
		func(v gates.Verdict) bool { return v.Verdict != gate.Pass && v.Gate.Severity != gates.Soft })
}

func annotate(b *strings.Builder, level string, v *gates.Verdict, title, text string) {
	property := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
	message := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	b.WriteString("::" + level + " ")
	if v != nil && v.Gate.Position.File != "" && v.Gate.Position.Line > 0 {
		fmt.Fprintf(b, "file=%s,line=%d,", property.Replace(plain.Line(v.Gate.Position.File)), v.Gate.Position.Line)
	}
	fmt.Fprintf(b, "title=%s::%s\n", property.Replace(plain.Line(title)), message.Replace(text))
}
