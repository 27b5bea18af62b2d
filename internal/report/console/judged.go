// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package console

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/results"
	"github.com/callvet/callvet/internal/app/runs"
	"github.com/callvet/callvet/internal/report/plain"
)

// Judged prints the judges' results; with all every verdict, else verdicts that fail or are
// unscored.
func Judged(w io.Writer, d *results.Judged, all bool, h Hints) {
	for i := range d.Judgings {
		if i > 0 {
			fmt.Fprintln(w)
		}
		printJudging(w, &d.Judgings[i], all)
	}
	for i := range d.Lost {
		fmt.Fprintf(w, "judging %s is lost: %s\n", d.Lost[i].ID, plain.Line(d.Lost[i].Problem))
	}
	for i := range d.Live {
		v := &d.Live[i]
		fmt.Fprintf(w,
			"%s by %s: judging %s, %s, asked while run %s goes on\n  %s so far; they count when the run is over: %s\n",
			v.JudgeID, plain.Line(v.Judge.Model), v.ID, v.Status, v.Run,
			plain.Count(v.Answers, "answer", "answers"),
			h.Text(app.Action{Verb: app.VerbResume, Run: v.Run}, nil))
	}
	for i := range d.Agreement {
		printAgreement(w, d, &d.Agreement[i])
	}
	for i := range d.Majorities {
		v := &d.Majorities[i]
		fmt.Fprintf(w, "\n%s of %s: %s\n", v.JudgeID, plain.Line(v.Judge.Model), summaryOf(&v.JudgingView))
		printVerdicts(w, &v.JudgingView, all)
	}
}

// printAgreement prints how far two judges agree.
func printAgreement(w io.Writer, d *results.Judged, g *results.JudgeAgreement) {
	x, y := &d.Judgings[g.A], &d.Judgings[g.B]
	fmt.Fprintf(w, "\n%s by %s (version %d) and %s by %s (version %d) say the same of %d of %d, %s.\n", x.JudgeID,
		plain.Line(x.Judge.Model), x.Version, y.JudgeID, plain.Line(y.Judge.Model), y.Version, g.Same, g.N,
		runs.Coefficients(g))
}

// maxJudgedLines bounds the printed verdicts without --all.
const maxJudgedLines = 20

func printJudging(w io.Writer, v *results.JudgingView, all bool) {
	fmt.Fprintf(w, "%s by %s, version %d of %s: judging %s, %s\n", v.JudgeID, plain.Line(v.Judge.Model), v.Version,
		plain.Line(v.About), v.ID, v.Status)
	fmt.Fprintf(w, "  %s\n", summaryOf(v))
	for _, why := range slices.Sorted(maps.Keys(v.Skipped)) {
		fmt.Fprintf(w, "  not asked: %s (%s)\n", why, plain.Count(v.Skipped[why], "attempt", "attempts"))
	}
	for _, why := range v.Stopped {
		fmt.Fprintf(w, "  given up: %s\n", plain.Line(why))
	}
	for i := range v.Wins {
		printWins(w, &v.Wins[i])
	}
	printVerdicts(w, v, all)
	if left := len(v.Verdicts) - v.Pass - maxJudgedLines; !all && left > 0 {
		fmt.Fprintf(w, "  … and %d more: callvet judge show %s\n", left, v.ID)
	}
}

// printWins prints which of two targets did better.
func printWins(w io.Writer, x *results.Wins) {
	a, b := plain.Line(x.Target), plain.Line(x.Against)
	if a == b {
		a, b = a+" (first)", b+" (second)"
	}
	fmt.Fprintf(w, "  %s wins %d, %s wins %d, %s", a, x.Won, b, x.Lost, plain.Count(x.Ties, "tie", "ties"))
	if x.Rate.Usable() {
		fmt.Fprintf(w, ": the second wins %s (95 %% interval %s to %s)", plain.Percent(x.Rate.Point),
			plain.Percent(x.Rate.Lower), plain.Percent(x.Rate.Upper))
		switch {
		case x.Rate.Lower > 0.5:
			fmt.Fprintf(w, ", and is better")
		case x.Rate.Upper < 0.5:
			fmt.Fprintf(w, ", and is worse")
		default:
			fmt.Fprintf(w, ", which does not separate them")
		}
	}
	fmt.Fprintln(w)
}

// printVerdicts prints every verdict, or only verdicts that fail or are unscored.
func printVerdicts(w io.Writer, v *results.JudgingView, all bool) {
	for _, why := range slices.Sorted(maps.Keys(v.Whys)) {
		fmt.Fprintf(w, "  unscored: %s (%d)\n", plain.Line(why), v.Whys[why])
	}
	shown := 0
	for i := range v.Verdicts {
		t := &v.Verdicts[i]
		decided := t.Pass != nil && *t.Pass
		if !all && decided {
			continue
		}
		if shown++; !all && shown > maxJudgedLines {
			break
		}
		fmt.Fprintf(w, "  %-8s %s%s\n", wordOf(t), plain.Line(t.Key.String()), behind(t))
		if t.Report != nil {
			printReport(w, t)
		}
	}
}

// printReport prints the report of a judge on a target: its lists of texts.
func printReport(w io.Writer, t *results.ThingVerdict) {
	for _, l := range t.Report.Lists() {
		fmt.Fprintf(w, "    %s\n", plain.Line(l.Title))
		for _, text := range l.Texts {
			fmt.Fprintf(w, "      - %s\n", plain.Line(text))
		}
	}
}

// summaryOf is a judging in one line.
func summaryOf(v *results.JudgingView) string {
	var parts []string
	if v.Pass+v.Fail > 0 {
		parts = append(parts, fmt.Sprintf("%d of %d pass", v.Pass, v.Pass+v.Fail))
	}
	for _, word := range slices.Sorted(maps.Keys(v.Words)) {
		parts = append(parts, fmt.Sprintf("%s: %d", word, v.Words[word]))
	}
	parts = append(parts, fmt.Sprintf("%d unscored", v.Unscored))
	if v.Errors > 0 {
		parts = append(parts, plain.Count(v.Errors, "question", "questions")+" ended in an error")
	}
	if left := v.Questions - v.Answered - v.Errors; left > 0 {
		parts = append(parts, fmt.Sprintf("%d not asked yet", left))
	}
	if mean := runs.MeanScore(v); mean != "" {
		parts = append(parts, "mean score "+mean)
	}
	if v.Mended > 0 {
		parts = append(parts, plain.Count(v.Mended, "answer was", "answers were")+" not the JSON that was asked for")
	}
	switch {
	case v.Agreement == nil:
	case v.ID == "": // a majority
		parts = append(parts, fmt.Sprintf("the %d judges agree on %s", v.Samples, plain.Percent(*v.Agreement)))
	case v.Unit == runs.ComparedPairs:
		parts = append(parts, "the two orders agree on "+plain.Percent(*v.Agreement))
	default:
		parts = append(parts, fmt.Sprintf("%d samples agree on %s", v.Samples, plain.Percent(*v.Agreement)))
	}
	if v.Spent.USD > 0 {
		parts = append(parts, plain.Dollars(v.Spent.USD))
	}
	s := strings.Join(parts, ", ")
	if p := v.People; p != nil {
		s += fmt.Sprintf("; people say the same of %d of %d labelled", p.Same, p.Labelled)
	}
	return s
}

func wordOf(t *results.ThingVerdict) string {
	switch {
	case !t.Scored():
		return "UNSCORED"
	case t.Pass != nil && *t.Pass:
		return "PASS"
	case t.Pass != nil:
		return "FAIL"
	}
	return strings.ToUpper(plain.Line(t.Word))
}

// behind are the details of a verdict: people's verdict, the score, and the reason.
func behind(t *results.ThingVerdict) string {
	var b strings.Builder
	if t.Score != nil {
		fmt.Fprintf(&b, "  %s", plain.Percent(*t.Score))
	}
	if t.People != nil {
		word := "FAIL"
		if *t.People {
			word = "PASS"
		}
		fmt.Fprintf(&b, "  (people: %s)", word)
	}
	if why := cmp.Or(t.Unscored, t.Reason); why != "" {
		fmt.Fprintf(&b, "  %s", plain.Limited(plain.Line(why), 300))
	}
	return b.String()
}

// JudgeAudit writes how much irrelevant changes influence a judge.
func JudgeAudit(w io.Writer, subject string, v *runs.AuditView) {
	fmt.Fprintf(w, "audit of %s by %s on %s: %d of %d attempts, %d of %d questions answered, %s\n",
		v.JudgeID, plain.Line(v.Judge.Model), plain.Line(subject), v.Drawn, v.From, v.Answered, v.Questions, v.Status)
	fmt.Fprintf(w, "%s.\n", plain.Line(v.Says))
	for _, why := range v.Stopped {
		fmt.Fprintf(w, "  given up: %s\n", plain.Line(why))
	}
	for _, why := range slices.Sorted(maps.Keys(v.Skipped)) {
		fmt.Fprintf(w, "  not asked: %s (%s)\n", why, plain.Count(v.Skipped[why], "attempt", "attempts"))
	}
	for i := range v.Probes {
		p := &v.Probes[i]
		fmt.Fprintf(w, "  %-16s  %s\n", p.Probe, plain.Line(p.Says))
		for _, why := range slices.Sorted(maps.Keys(p.NotAsked)) {
			fmt.Fprintf(w, "  %-16s  not asked of %s: %s\n", "",
				plain.Count(p.NotAsked[why], "attempt", "attempts"), why)
		}
		if p.Unanswered > 0 {
			fmt.Fprintf(w, "  %-16s  not answered: %s\n", "", plain.Count(p.Unanswered, "pair", "pairs"))
		}
	}
}
