// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package redaction

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/callvet/callvet/score/safety"
	"github.com/callvet/callvet/verify/proof"
)

//go:embed presidio.json
var presidio []byte

// reference has the published figures of the authors' analyzer on the labelled set.
type reference struct {
	Origin   string `json:"origin"`
	Entities map[string]struct {
		Labelled  int     `json:"labelled"` // tokens, as the other two
		Precision float64 `json:"precision"`
		Recall    float64 `json:"recall"`
	} `json:"entities"`
}

// Personal compares the detector with the labelled set, entity by entity, and with the published
// figures of the set's authors. For the detector's kinds, precision and recall by span have the
// limits of Verify. The limit of recall by character is the recall of the reference by token;
// characters are the closest unit without its tokenizer. Other kinds are listed with their counts.
func Personal(c *proof.Check, d proof.Data) error {
	var ref reference
	if err := json.Unmarshal(presidio, &ref); err != nil {
		return fmt.Errorf("read reference: %w", err)
	}
	rows, err := labelledRows(d)
	if err != nil {
		return err
	}
	detect, err := safety.NewDetector(safety.DetectorConfig{})
	if err != nil {
		return err
	}
	c.Printf("reference: %s\n\n", ref.Origin)
	c.Printf(
		"%s: %d texts\n%-18s %8s %10s %7s   %-17s   reference, by token\n%-18s %8s %10s %7s   %10s %7s   %8s %10s %7s\n",
		labelledSet, len(rows), "", "", "by span", "", "by character", "entity", "labelled", "precision", "recall",
		"precision", "recall", "labelled", "precision", "recall")
	sought := map[string]bool{}
	for _, l := range labelled() {
		sought[l.label] = true
		n := count(rows, detect, l.kind, l.label)
		their, ok := ref.Entities[l.label]
		if !ok {
			return fmt.Errorf("read reference: it has no %s", l.label)
		}
		c.Printf("%-18s %8d %10.3f %7.3f   %10.3f %7.3f   %8d %10.3f %7.3f\n", l.label, n.truth,
			ratio(n.right, n.found), ratio(n.hit, n.truth), ratio(n.both, n.marked), ratio(n.both, n.chars),
			their.Labelled, their.Precision, their.Recall)
		c.Due("entities", 1, "the entities that the detector looks for")
		c.Compare("entities", l.label,
			n.truth > 0 && ratio(n.right, n.found) >= l.precision && ratio(n.hit, n.truth) >= l.recall,
			"by span, precision %.3f, at least %.2f, recall %.3f, at least %.2f", ratio(n.right, n.found), l.precision,
			ratio(n.hit, n.truth), l.recall)
		c.Due("recall compared with the reference", 1, "the entities that both look for")
		c.Compare("recall compared with the reference", l.label, ratio(n.both, n.chars) >= their.Recall,
			"by character %.3f, and the reference by token %.3f", ratio(n.both, n.chars), their.Recall)
	}
	others := map[string]int{}
	for i := range rows {
		for _, s := range rows[i].Spans {
			if !sought[s.Type] {
				others[s.Type]++
			}
		}
	}
	c.Printf("\nnot looked for\n")
	for _, label := range slices.Sorted(maps.Keys(others)) {
		c.Printf("%-18s %8d %10s %7s   %10s %7s", label, others[label], "–", "–", "–", "–")
		if their, ok := ref.Entities[label]; ok {
			c.Printf("   %8d %10.3f %7.3f", their.Labelled, their.Precision, their.Recall)
		}
		c.Printf("\n")
	}
	return nil
}

// counts are the counts of one entity: labelled spans and how many were found, findings and how many
// are right, and the same for characters.
type counts struct {
	truth, hit, found, right int
	chars, marked, both      int // characters in labels, in findings, and in both
}

func count(rows []labelledText, detect *safety.Detector, k safety.DataKind, label string) (n counts) {
	for i := range rows {
		t, h, f, r := rows[i].compare(detect, k, label)
		n.truth, n.hit, n.found, n.right = n.truth+t, n.hit+h, n.found+f, n.right+r
		chars, marked, both := rows[i].overlap(detect, k, label)
		n.chars, n.marked, n.both = n.chars+chars, n.marked+marked, n.both+both
	}
	return n
}

// overlap counts characters: labelled, in findings, and in both.
func (t *labelledText) overlap(d *safety.Detector, k safety.DataKind, label string) (chars, marked, both int) {
	place := 0 // of a character among the characters
	at := map[int]int{}
	for i := range t.Text {
		at[i] = place
		place++
	}
	at[len(t.Text)] = place
	truth, found := make([]bool, place), make([]bool, place)
	for _, s := range t.Spans {
		for i := max(0, s.Start); s.Type == label && i < min(s.End, place); i++ {
			truth[i] = true
		}
	}
	for f, ok := d.Next(t.Text, 0); ok; f, ok = d.Next(t.Text, f.End) {
		for i := at[f.Start]; f.Kind == k && i < at[f.End]; i++ {
			found[i] = true
		}
	}
	for i := range truth {
		if truth[i] {
			chars++
		}
		if found[i] {
			marked++
		}
		if truth[i] && found[i] {
			both++
		}
	}
	return chars, marked, both
}
