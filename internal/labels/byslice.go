// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package labels

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/callvet/callvet/stats"
	"github.com/callvet/callvet/stats/judge"
)

// SliceReport compares the judge with the labels of each value of a slice key.
type SliceReport struct {
	Key    string       `json:"key"`
	Values []SliceValue `json:"values"`
	// Unplaced counts labelled things without a known value, Left the values beyond the limit.
	Unplaced int `json:"unplaced,omitempty"`
	Left     int `json:"left,omitempty"`
}

// SliceValue are the results of the labels of one value.
type SliceValue struct {
	Value string `json:"value"`
	// Table contains its calibration labels that were not drawn by verdict.
	Table       AgreementTable `json:"table"`
	Sensitivity stats.Interval `json:"sensitivity"`
	Specificity stats.Interval `json:"specificity"`
	// PHolm is the smaller of the p values of the tests that its rates equal those of all other
	// labels (Fisher). It is adjusted for both rates of all values (Holm), in [0,1]; 1 without
	// labels to test.
	PHolm float64 `json:"p_holm"`
	worth Worth
	// Own: other labels are applied with the rates of this value; otherwise with those of all
	// labels. Why is the reason.
	Own bool   `json:"own"`
	Why string `json:"why"`
	// Success is set with a run: labels on the value's own tasks of the run are used directly
	// where they suffice.
	Success []Success `json:"success,omitempty"`
}

// sliceLevel is the adjusted p value below which a judge differs in a slice.
const sliceLevel = 0.05

// BySlice reports the judge's quality for each value of a key, and with a run how many of its
// tasks truly passed. of returns the values of a thing. A value uses its own rates only if it has
// enough labels of both classes and the judge differs significantly there. Rates from few labels
// are worse than pooled rates. r is the report on all labels of the same input. At most most
// values are reported, those with the most labels; 0 means all. Source: Statistics specification,
// section 4.5.
func BySlice(in CalibrationInput, r *CalibrationReport, key string, most int,
	of func(Key) []string,
) (*SliceReport, error) {
	in.Unit, in.Confidence = r.Unit, r.Confidence
	j, err := newJoin(in)
	if err != nil {
		return nil, err
	}
	out := &SliceReport{Key: key}
	placed, all := map[string]*slice{}, AgreementTable{}
	for _, p := range j.fit {
		vs := valuesOf(of, p.Key)
		if len(vs) == 0 {
			out.Unplaced++
		}
		for _, v := range vs {
			at(placed, v).add(p)
		}
		if !byVerdict(p) {
			all.add(p)
		}
	}
	for _, v := range in.Run {
		for _, x := range valuesOf(of, v.Key) {
			s := at(placed, x)
			s.run = append(s.run, v)
		}
	}
	for v, s := range placed {
		drawn := slices.DeleteFunc(slices.Clone(s.fit), byVerdict)
		out.Values = append(out.Values, SliceValue{Value: v, Table: s.table, worth: worthOf(drawn, r.Confidence)})
	}
	slices.SortFunc(out.Values, func(a, b SliceValue) int {
		return cmp.Or(cmp.Compare(b.Table.N(), a.Table.N()), cmp.Compare(a.Value, b.Value))
	})
	if n := len(out.Values); most > 0 && n > most {
		out.Values, out.Left = out.Values[:most], n-most
	}
	adjust(out.Values, all, r)
	for i := range out.Values {
		v := &out.Values[i]
		own := placed[v.Value]
		v.decide(r, slices.DeleteFunc(slices.Clone(own.fit), byVerdict))
		v.success(in, r, j, own)
	}
	slices.SortFunc(out.Values, func(a, b SliceValue) int { return cmp.Compare(a.Value, b.Value) })
	return out, nil
}

// adjust tests both rates of each value against all other labels, as one family. Where a side has
// no label of a class there is no test, and no adjustment for it. The other labels are assumed to
// be clustered like all labels.
func adjust(values []SliceValue, all AgreementTable, r *CalibrationReport) {
	var of []*SliceValue
	var ps []float64
	whole := r.calibration()
	for i := range values {
		v := &values[i]
		v.PHolm = 1
		own, rest := v.calibration(), all.without(v.Table).Calibration(Worth{})
		rest.PassWorth = part(whole.PassWorth, rest.LabelledPass, whole.LabelledPass)
		rest.FailWorth = part(whole.FailWorth, rest.LabelledFail, whole.LabelledFail)
		sensitivity, specificity := judge.Differ(own, rest)
		if own.LabelledPass > 0 && rest.LabelledPass > 0 {
			of, ps = append(of, v), append(ps, sensitivity)
		}
		if own.LabelledFail > 0 && rest.LabelledFail > 0 {
			of, ps = append(of, v), append(ps, specificity)
		}
	}
	for i, p := range stats.Holm(ps) {
		of[i].PHolm = min(of[i].PHolm, p)
	}
}

// part is the effective number of n labels, where all labels have a given effective number.
func part(worth float64, n, of int) float64 {
	if of == 0 {
		return 0
	}
	return worth * float64(n) / float64(of)
}

func (v *SliceValue) calibration() judge.Calibration { return v.Table.Calibration(v.worth) }

// slice has the data of one value: calibration labels, the table of labels that were not drawn by
// verdict, and verdicts of the run.
type slice struct {
	fit   []pair
	table AgreementTable
	run   []Judgement
}

func at(m map[string]*slice, value string) *slice {
	s := m[value]
	if s == nil {
		s = &slice{run: []Judgement{}}
		m[value] = s
	}
	return s
}

func (s *slice) add(p pair) {
	if s.fit = append(s.fit, p); !byVerdict(p) {
		s.table.add(p)
	}
}

// valuesOf are the values of a thing, each once.
func valuesOf(of func(Key) []string, k Key) []string {
	vs := of(k)
	if len(vs) < 2 {
		return vs
	}
	vs = slices.Clone(vs)
	slices.Sort(vs)
	return slices.Compact(vs)
}

func (v *SliceValue) decide(r *CalibrationReport, ps []pair) {
	v.Sensitivity = rateOf(ps, r.Confidence, truly, right)
	v.Specificity = rateOf(ps, r.Confidence, not(truly), right)
	c := v.calibration()
	switch {
	case c.Few():
		v.Why = tooFew(c) + fmt.Sprintf(
			", and at least %d of each are needed: labels made elsewhere count by the rates of all", judge.MinLabels)
	case v.PHolm >= sliceLevel:
		v.Why = fmt.Sprintf(
			"nothing shows that the judge differs here (p = %.2g, adjusted): labels made elsewhere count by the rates of all", v.PHolm)
	default:
		v.Own, v.Why = true,
			fmt.Sprintf("the judge differs here (p = %.2g, adjusted): labels made elsewhere count by its own rates",
				v.PHolm)
	}
}

// success corrects the run's verdicts on things with the value.
func (v *SliceValue) success(in CalibrationInput, r *CalibrationReport, j *join, own *slice) {
	sub := *j
	sub.fit, in.Run = own.fit, own.run
	of1 := &CalibrationReport{
		Judge: r.Judge, ID: r.ID, Unit: r.Unit, Confidence: r.Confidence, Table: r.Table,
		Worth: r.Worth, Youden: r.Youden, strata: strataOf(sub.fit),
	}
	if v.Own {
		of1.Table, of1.Worth = v.Table, v.worth
		of1.Youden = v.calibration().Youden(r.Confidence)
	}
	of1.success(in, &sub)
	v.Success = of1.Success
}
