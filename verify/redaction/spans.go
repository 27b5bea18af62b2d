// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package redaction

import (
	"fmt"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/score/safety"
	"github.com/callvet/callvet/verify/jsonl"
	"github.com/callvet/callvet/verify/proof"
)

// labelledSet is the set of texts with personal data labelled by its authors.
const labelledSet = "presidio_pii"

// labelled maps a label of the set to a kind, with the limits of the check. A number without a mark of
// a country ("467 3395") is a phone number only for a person.
func labelled() []struct {
	kind              safety.DataKind
	label             string
	precision, recall float64
} {
	return []struct {
		kind              safety.DataKind
		label             string
		precision, recall float64
	}{
		{safety.KindCard, "CREDIT_CARD", 0.98, 0.95},
		{safety.KindEmail, "EMAIL_ADDRESS", 0.98, 0.98},
		{safety.KindIBAN, "IBAN_CODE", 0.98, 0.95},
		{safety.KindID, "US_SSN", 0.90, 0.95},
		{safety.KindPhone, "PHONE_NUMBER", 0.95, 0.60},
	}
}

type labelledText struct {
	Text  string `json:"full_text"`
	Spans []struct {
		Type  string `json:"entity_type"`
		Start int    `json:"start_position"` // in characters
		End   int    `json:"end_position"`
	} `json:"spans"`
}

// spans compares findings with labels. A finding is right if it overlaps a span of its kind; a span is
// found if a finding of its kind overlaps it.
func spans(c *proof.Check, d proof.Data) error {
	rows, err := labelledRows(d)
	if err != nil {
		return err
	}
	detect, err := safety.NewDetector(safety.DetectorConfig{})
	if err != nil {
		return err
	}
	c.Printf("\n%s: %d texts\n%-14s %9s %7s %7s  %s\n", labelledSet, len(rows), "kind", "labelled", "found", "right",
		"precision, recall")
	for _, l := range labelled() {
		truth, hit, found, right := 0, 0, 0, 0
		for i := range rows {
			t, h, f, r := rows[i].compare(detect, l.kind, l.label)
			truth, hit, found, right = truth+t, hit+h, found+f, right+r
		}
		precision, recall := ratio(right, found), ratio(hit, truth)
		c.Due("labelled spans", 1, "the list of labelled kinds")
		c.Compare("labelled spans", string(l.kind), truth > 0 && precision >= l.precision && recall >= l.recall,
			"precision %.3f, at least %.2f, recall %.3f, at least %.2f", precision, l.precision, recall, l.recall)
		c.Printf("%-14s %9d %7d %7d  %.3f, %.3f\n", l.kind, truth, found, right, precision, recall)
	}
	return nil
}

func ratio(a, b int) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}

// labelledRows reads the texts. Fewer than half of the number on the set's page, which counts both
// parts, is an error.
func labelledRows(d proof.Data) ([]labelledText, error) {
	page, err := proof.ReadReadme(d.Set(labelledSet))
	if err != nil {
		return nil, err
	}
	due, err := page.Count("texts")
	if err != nil {
		return nil, err
	}
	files, err := d.Files(labelledSet, "*.jsonl*")
	if err != nil {
		return nil, err
	}
	var rows []labelledText
	for _, f := range files {
		err := jsonl.Each(f, func(row labelledText) error {
			rows = append(rows, row)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	if len(rows) < due/2 {
		return nil, fmt.Errorf("read %s: %w: %d texts in the part %s, and its page lists %d in two parts", labelledSet,
			callvet.ErrInvalid, len(rows), d.Part, due)
	}
	return rows, nil
}

func (t *labelledText) compare(d *safety.Detector, k safety.DataKind, label string) (truth, hit, found, right int) {
	offsets := []int{} // of characters, in bytes
	for i := range t.Text {
		offsets = append(offsets, i)
	}
	offsets = append(offsets, len(t.Text))
	at := func(char int) int { return offsets[min(max(char, 0), len(offsets)-1)] }
	var finds []safety.DataFinding
	for f, ok := d.Next(t.Text, 0); ok; f, ok = d.Next(t.Text, f.End) {
		if f.Kind == k {
			finds = append(finds, f)
		}
	}
	matched := make([]bool, len(finds))
	for _, s := range t.Spans {
		if s.Type != label {
			continue
		}
		truth++
		one := false
		for i, f := range finds {
			if f.Start < at(s.End) && at(s.Start) < f.End {
				one, matched[i] = true, true
			}
		}
		if one {
			hit++
		}
	}
	for _, m := range matched {
		if m {
			right++
		}
	}
	return truth, hit, len(finds), right
}
