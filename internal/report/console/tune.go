// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package console

import (
	"fmt"
	"io"
	"strings"

	"github.com/callvet/callvet/internal/catalog"
	"github.com/callvet/callvet/internal/report"
	"github.com/callvet/callvet/internal/report/plain"
)

// fewClusters is the number of held-out sets of right tools below which there are few.
const fewClusters = 20

// Tuning writes the result of a search for weights, and the advice on it.
func Tuning(w io.Writer, t *catalog.Tuning) error {
	var b strings.Builder
	u := &t.Tuned
	fmt.Fprintf(&b, "%s a tool of the catalogue", plain.Count(t.Cases, "case expects", "cases expect"))
	if t.LeftOut > 0 {
		fmt.Fprintf(&b, "; %d left out, which expect none, or one that it does not have", t.LeftOut)
	}
	if u.Folds > 0 {
		fmt.Fprintf(&b, "\n%d folds of %s, each held out once; seed %d\n", u.Folds,
			plain.Count(u.Held.Clusters, "set of right tools", "sets of right tools"), u.Seed)
	} else {
		fmt.Fprintf(&b, "\ntrain part %s, held out %s, by their right tools; seed %d\n",
			part(u.Train.Cases, u.Train.Clusters), part(u.Held.Cases, u.Held.Clusters), u.Seed)
	}
	where := "the train part"
	if u.Folds > 0 {
		where = "all cases"
	}
	fmt.Fprintf(&b, "\n%s on %s: %s under the preset %s, %s as tuned; %s tried\n", u.Goal, where,
		plain.Percent(t.TrainBefore), u.Preset, plain.Percent(t.TrainAfter),
		plain.Count(t.Tried, "setting", "settings"))
	if t.Cut {
		b.WriteString("the search was ended before it had tried all settings\n")
	}
	if len(t.Moves) > 0 {
		rows := [][]string{{"round", "weight", "from", "to", u.Goal}}
		for _, m := range t.Moves {
			rows = append(rows, []string{
				fmt.Sprint(m.Round), m.Knob, fmt.Sprintf("%g", m.From),
				fmt.Sprintf("%g", m.To), plain.Percent(m.Goal),
			})
		}
		report.Aligned(&b, rows)
	}
	if len(t.Weights) > 0 || u.Folds > 0 {
		held(&b, t)
	}
	tuningVerdict(&b, t)
	_, err := io.WriteString(w, b.String())
	return err
}

func part(cases, clusters int) string {
	return fmt.Sprintf("%s (%s)", plain.Count(cases, "case", "cases"),
		plain.Count(clusters, "set of right tools", "sets of right tools"))
}

// held prints the comparison on held-out cases.
func held(b *strings.Builder, t *catalog.Tuning) {
	u := &t.Tuned
	how := "p " + plain.P(u.P)
	if u.Exact {
		how += " (all patterns of signs)"
	}
	fmt.Fprintf(b, "\nHeld out: %s under the preset, %s as tuned; change %s, %s\n", plain.Percent(u.Before),
		plain.Percent(u.After), plain.Change(u.Change), how)
	if len(t.FoldChanges) > 0 {
		changes := make([]string, len(t.FoldChanges))
		for i, c := range t.FoldChanges {
			changes[i] = fmt.Sprintf("%+.1f", 100*c)
		}
		fmt.Fprintf(b, "by fold: %s\n", strings.Join(changes, ", "))
	}
	what := "first tool"
	if u.Goal == "pass" {
		what = "tools"
	}
	for _, l := range []struct {
		how string
		ids []string
	}{{"newly right", t.NewlyRight}, {"newly wrong", t.NewlyWrong}} {
		if len(l.ids) > 0 {
			fmt.Fprintf(b, "%s %s: %s\n", what, l.how, plain.Line(strings.Join(l.ids, ", ")))
		}
	}
}

// tuningVerdict returns the advice.
func tuningVerdict(b *strings.Builder, t *catalog.Tuning) {
	u := &t.Tuned
	b.WriteString("\n")
	switch {
	case len(t.Weights) == 0:
		fmt.Fprintf(b, "No other weights were better on the cases searched on: keep the preset %s.\n", u.Preset)
	case u.BeyondChance:
		b.WriteString(
			"The gain on what was held out is beyond chance. The weights are proposed; the figures hold for questions like these.\n")
	case u.Change.Point > 0:
		fmt.Fprintf(b, "The gain on what was held out is not beyond chance: keep the preset %s, or ask more cases.\n",
			u.Preset)
	default:
		fmt.Fprintf(b, "What was better on the cases searched on is not on what was held out: keep the preset %s.\n",
			u.Preset)
	}
	if u.Folds == 0 && min(u.Held.Clusters, u.Train.Clusters) < fewClusters {
		fmt.Fprintf(b,
			"A part has fewer than %d sets of right tools; --folds 5 holds every case out once, and searches on more of them.\n", fewClusters)
	}
	switch {
	case t.File == "":
	case len(t.Weights) == 0:
		fmt.Fprintf(b, "%s was not written.\n", plain.Line(t.File))
	case u.BeyondChance:
		fmt.Fprintf(b, "%s holds the weights; --weights %s uses them.\n", plain.Line(t.File), plain.Line(t.File))
	default:
		fmt.Fprintf(b, "%s holds the weights all the same, to be tried on other cases.\n", plain.Line(t.File))
	}
}
