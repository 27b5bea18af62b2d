// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/callvet/callvet/internal/labels"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/stats"
)

// JudgeJSON writes the comparison of a judge with labels as one document, callvet.judge.
func JudgeJSON(w io.Writer, r *labels.CalibrationReport) error {
	return json.NewEncoder(w).Encode(struct {
		Format  string `json:"format"`
		Version int    `json:"version"`
		*labels.CalibrationReport
	}{"callvet.judge", 1, r})
}

// Judge writes the comparison of a judge with labels, and how many tasks truly passed.
func Judge(out io.Writer, r *labels.CalibrationReport) error {
	w := &bytes.Buffer{}
	fmt.Fprintf(w, "judge %s\n", plain.Line(r.Judge.String()))
	fmt.Fprintf(w, "%s from people, %s labelled\n\n", plain.Count(r.Counts.Labels, "verdict", "verdicts"),
		plain.Count(r.Counts.Labelled, string(r.Unit), string(r.Unit)+"s"))
	if r.Table.N() > 0 {
		t := r.Table
		fmt.Fprintf(w, "               judge: pass    fail\n  people: pass  %10d  %6d\n  people: fail  %10d  %6d\n\n",
			t.TruePass, t.FalseFail, t.FalsePass, t.TrueFail)
		share(w, "sensitivity", r.Sensitivity, "of the truly passed, the judge passes")
		share(w, "specificity", r.Specificity, "of the truly failed, the judge fails")
		verdictNumber(w, "J", r.Youden, "sensitivity + specificity - 1; 0 is chance")
		share(w, "agreement", r.Accuracy, "same verdict as people")
		verdictNumber(w, "kappa", r.Kappa, "")
		verdictNumber(w, "AC1", r.AC1, "")
		if r.MCC != nil {
			fmt.Fprintf(w, "  %-12s %7.3f\n", "MCC", *r.MCC)
		} else {
			fmt.Fprintf(w, "  %-12s not defined: people or the judge always say the same\n", "MCC")
		}
	}
	share(w, "PPV", r.PPV, "of those that the judge passes, truly passed")
	share(w, "NPV", r.NPV, "of those that the judge fails, truly failed")
	printVerified(w, r.Verified)
	printExtras(w, r)
	printDrift(w, r)
	verdict := "yes"
	if !r.Usable {
		verdict = "no"
	}
	fmt.Fprintf(w, "\nusable for gates on other runs: %s: %s\n", verdict, r.Why)
	for i := range r.Success {
		printSuccess(w, r, &r.Success[i])
	}
	printSlices(w, r)
	for _, s := range r.Warnings {
		fmt.Fprintf(w, "\nwarning: %s", plain.Line(s))
	}
	if len(r.Warnings) > 0 {
		fmt.Fprintln(w)
	}
	_, err := w.WriteTo(out)
	return err
}

func share(w io.Writer, name string, iv stats.Interval, means string) {
	if !iv.Defined() {
		fmt.Fprintf(w, "  %-12s not known (%s)\n", name, iv.Status)
		return
	}
	n := fmt.Sprintf("n = %d", iv.N)
	if iv.Clusters < iv.N && iv.NEff > 0 {
		n += fmt.Sprintf(" of %s, worth %.4g", plain.Count(iv.Clusters, "task", "tasks"), iv.NEff)
	}
	fmt.Fprintln(w, strings.TrimRight(fmt.Sprintf("  %-12s %8s  %s to %s  %s  %s",
		name, plain.Percent(iv.Point), plain.Percent(iv.Lower), plain.Percent(iv.Upper), n, means), " "))
}

func verdictNumber(w io.Writer, name string, iv stats.Interval, means string) {
	if !iv.Defined() {
		fmt.Fprintf(w, "  %-12s not defined (%s)\n", name, iv.Status)
		return
	}
	if iv.Lower == iv.Upper { // raters that never differ, or always, show no spread
		fmt.Fprintf(w, "  %-12s %8.3f  no interval: the labels show no spread\n", name, iv.Point)
		return
	}
	fmt.Fprintln(w,
		strings.TrimRight(fmt.Sprintf("  %-12s %8.3f  %.3f to %.3f  %s", name, iv.Point, iv.Lower, iv.Upper, means),
			" "))
}

func printVerified(w io.Writer, v *labels.Verified) {
	switch {
	case v == nil:
	case v.Sensitivity == nil || v.Specificity == nil:
		fmt.Fprintf(w,
			"\n%d labels were drawn by the judge's verdict; sensitivity and specificity cannot be had from them (%s)\n",
			v.Labels, v.Status)
	default:
		fmt.Fprintf(w,
			"\n%d labels were drawn by the judge's verdict; corrected for that (Begg and Greenes): sensitivity %s, specificity %s\n",
			v.Labels, plain.Percent(*v.Sensitivity), plain.Percent(*v.Specificity))
	}
}

func printExtras(w io.Writer, r *labels.CalibrationReport) {
	if s := r.Scores; s != nil {
		verdictNumber(w, "AUC", s.AUC, "chance that a true pass scores higher than a true fail")
		if s.Brier != nil && s.ECE != nil {
			fmt.Fprintf(w, "  %-12s %8.3f  calibration error %.3f\n", "Brier", *s.Brier, *s.ECE)
		}
	}
	if g := r.Ratings; g != nil {
		fmt.Fprintf(w, "\nratings: %d of %d the same (%s)\n", g.Same, g.N, plain.Percent(float64(g.Same)/float64(g.N)))
		verdictNumber(w, "kappa", g.Kappa, "")
		verdictNumber(w, "weighted", g.Weighted, "quadratic weights")
	}
	if c := r.Calls; c != nil && c.Tasks > 0 {
		fmt.Fprintf(w, "\n%d tasks: all %ss rated the same in %d, the same first failing %s in %d\n", c.Tasks, r.Unit,
			c.AllSame, r.Unit, c.FirstFailure)
	}
	if h := r.Humans; h != nil {
		fmt.Fprintf(w, "\npeople among themselves: %s labelled by several\n",
			plain.Count(h.Things, string(r.Unit), string(r.Unit)+"s"))
		verdictNumber(w, "alpha", h.Alpha, "Krippendorff")
		for _, p := range h.Pairs {
			fmt.Fprintf(w, "  %s and %s: %d of %d the same\n", plain.Line(p.A), plain.Line(p.B), p.Same, p.N)
			verdictNumber(w, "  kappa", p.Kappa, "")
			verdictNumber(w, "  AC1", p.AC1, "")
		}
	}
	if c := r.Check; c != nil {
		says := "fits the calibration"
		if c.Drifted {
			says = "CONTRADICTS the calibration"
		}
		fmt.Fprintf(w, "\nheld-out labels (%d): %s, p = %.3g for either rate\n", c.Table.N(), says, c.PHolm)
		share(w, "sensitivity", c.Sensitivity, "")
		share(w, "specificity", c.Specificity, "")
	}
}

func printDrift(w io.Writer, r *labels.CalibrationReport) {
	if r.Drift != nil {
		fmt.Fprintf(w, "\ndrift: %s\n", plain.Line(r.Drift.Says))
	}
	if r.Wanted != nil {
		fmt.Fprintf(w, "\nlabels: %s\n", plain.Line(r.Wanted.Says))
	}
}

func printSuccess(w io.Writer, r *labels.CalibrationReport, s *labels.Success) {
	title, corrected, thing, of := "true success", "true success", "attempt", plain.Count(s.Tasks, "task", "tasks")
	if r.Unit.Part() {
		thing = string(r.Unit)
		title, corrected, of = "truly right "+thing+"s", "truly right",
			plain.Count(s.Judged, thing, thing+"s")+" of "+of
	}
	fmt.Fprintf(w, "\n%s", title)
	if s.Target != "" {
		fmt.Fprintf(w, " of %s", plain.Line(s.Target))
	}
	fmt.Fprintf(w, " (%s)\n", of)
	share(w, "judged pass", s.Raw, "as the judge says")
	switch {
	case s.Refused != "":
		fmt.Fprintf(w, "  %-12s refused: %s\n", corrected, s.Refused)
	case s.Design == labels.Internal:
		share(w, corrected, s.True, fmt.Sprintf("from %d labels on this run", s.Labels))
	default:
		share(w, corrected, s.True, fmt.Sprintf("from %d labels made elsewhere", s.Labels))
	}
	if iv := s.Scored; iv != nil {
		share(w, "with scores", *iv, "prediction-powered; not for gates below 100 labels")
	}
	if s.Unread > 0 {
		fmt.Fprintf(w, "  %s left out: no verdict that can be read\n",
			plain.Count(s.Unread, thing+" is", thing+"s are"))
	}
	if s.Advice != "" {
		fmt.Fprintf(w, "  %s\n", s.Advice)
	}
}

// printSlices prints the numbers of the judge by the values of a slice key.
func printSlices(w io.Writer, r *labels.CalibrationReport) {
	if r.Slices == nil {
		return
	}
	for i := range r.Slices.Values {
		v := &r.Slices.Values[i]
		fmt.Fprintf(w, "\n%s=%s: %s\n", plain.Line(r.Slices.Key), plain.Line(v.Value),
			plain.Count(v.Table.N(), "label", "labels"))
		if v.Table.N() > 0 {
			share(w, "sensitivity", v.Sensitivity, "")
			share(w, "specificity", v.Specificity, "")
		}
		fmt.Fprintf(w, "  %s\n", v.Why)
		for k := range v.Success {
			printSuccess(w, r, &v.Success[k])
		}
	}
	if n := r.Slices.Unplaced; n > 0 {
		fmt.Fprintf(w, "\n%s on %ss that the traces do not have, or that have no %s: in no value\n",
			plain.Count(n, "label", "labels"), r.Unit, plain.Line(r.Slices.Key))
	}
	if n := r.Slices.Left; n > 0 {
		fmt.Fprintf(w, "\n%s with fewer labels left out\n", plain.Count(n, "value", "values"))
	}
}
