// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package labels

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"
	// the schema

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/doc"
	"github.com/callvet/callvet/stats"
	"github.com/callvet/callvet/stats/judge"
)

// CalibrationFormat is the format mark of calibration files.
const CalibrationFormat = "callvet.calibration"

//go:embed schema/calibration.schema.json
var schema string

// CalibrationSchema is the published JSON Schema (2020-12) of a calibration file.
func CalibrationSchema() []byte { return []byte(schema) }

// StratumTable is the part of a table with one sampling method.
type StratumTable struct {
	Stratum Stratum `json:"stratum,omitempty" form:"words=random|judge_pass|judge_fail"`
	AgreementTable
	Frame *Frame `json:"frame,omitempty"`
}

// Calibration is a judge's performance on labelled things, for other runs: a calibration file.
type Calibration struct {
	Format  string `json:"format" form:"required words=callvet.calibration"`
	Version int    `json:"version" form:"required min=1 max=1"`
	Judge   Judge  `json:"judge" form:"required"`
	Unit    Unit   `json:"unit" form:"required words=task|turn|call"`
	// Design is Transport where the table may be used for other runs, Internal where it may not,
	// because its labels were drawn by the judge's verdict.
	Design QueueDesign    `json:"design" form:"required words=transport|internal"`
	Table  AgreementTable `json:"table" form:"required"`
	// Worth is the effective number of independent labels in the table; nil in files of earlier
	// versions without it.
	Worth *Worth `json:"worth,omitempty"`
	// Lost are drawn outputs without a usable label; nil where no label has its draw.
	Lost *LostLabels `json:"lost_labels,omitempty"`
	// Strata are the calibration labels by sampling method; labels drawn by verdict are not in
	// Table.
	Strata []StratumTable `json:"strata" form:"required"`
	Roles  []Role         `json:"roles" form:"required words=calibration"`
	// Source names the file of the labels.
	Source string    `json:"source,omitempty"`
	Made   time.Time `json:"made" form:"required"`
	Stats  string    `json:"stats_version" form:"required"`
}

func strataOf(ps []pair) []StratumTable {
	var out []StratumTable
	for _, p := range ps {
		i := slices.IndexFunc(out,
			func(t StratumTable) bool { return t.Stratum == p.stratum && t.Frame.Equal(p.frame) })
		if i < 0 {
			out = append(out, StratumTable{Stratum: p.stratum, Frame: p.frame})
			i = len(out) - 1
		}
		out[i].add(p)
	}
	return out
}

// Calibration is the part of the report that another run may use; made is now,
// source the name of the labels file.
func (r *CalibrationReport) Calibration(source string, made time.Time) Calibration {
	c := Calibration{
		Format: CalibrationFormat, Version: Version, Judge: r.Judge, Unit: r.Unit, Design: Transport, Table: r.Table,
		Worth: &r.Worth, Lost: r.Lost, Strata: r.strata,
		Roles: []Role{Calibrating}, Source: source, Made: made.UTC().Truncate(time.Second), Stats: stats.Version,
	}
	if r.Table.N() == 0 {
		c.Design = Internal
	}
	return c
}

// Transported is the table for another run. The error wraps callvet.ErrInvalid
// when the labels were drawn by the judge's verdict.
func (c *Calibration) Transported() (judge.Calibration, error) {
	if c.Design != Transport {
		return judge.Calibration{}, &callvet.Hinted{
			Err: fmt.Errorf(
				"use calibration of %s: %w: its labels were drawn by the judge's verdict and hold for their own run only", c.Judge.ID(), callvet.ErrInvalid),
			Hint: "callvet label next --strategy random, then calibrate again",
		}
	}
	var w Worth
	if c.Worth != nil {
		w = *c.Worth
	}
	return c.Table.Calibration(w), nil
}

// TrueSuccess estimates from the judged share of a different run the share that truly passed; why
// is a sentence with the reason if it cannot. against, if not "", is the reason why the calibration
// does not apply to these verdicts: the judge then counts as one without labels.
func (c *Calibration) TrueSuccess(judged stats.Interval, confidence float64,
	against string,
) (iv stats.Interval, why string) {
	t, err := c.Transported()
	if err != nil {
		against = err.Error()
	}
	against = cmp.Or(against, c.Lost.fault())
	if against != "" {
		return judge.TrueSuccess(judged, judge.Calibration{}, confidence), against
	}
	iv, n := judge.TrueSuccess(judged, t, confidence), t.LabelledPass+t.LabelledFail
	return judge.Carried(iv, n, min(n, judged.Clusters)), judge.Refusal(iv.Status)
}

// AppliesTo returns why the calibration does not apply to a judge; nil if it does. The error wraps
// callvet.ErrConflict.
func (c *Calibration) AppliesTo(j Judge) error {
	if d := c.Judge.Differs(j); d != nil {
		return fmt.Errorf("use calibration: %w: it was made for %s, the verdicts are of %s: %v differs",
			callvet.ErrConflict, c.Judge, j, d)
	}
	return nil
}

// WriteTo writes the file form, indented.
func (c *Calibration) WriteTo(w io.Writer) (int64, error) {
	b, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return 0, fmt.Errorf("write calibration: %w", err)
	}
	n, err := w.Write(append(b, '\n'))
	return int64(n), err
}

// MaxCalibrationBytes bounds a calibration file.
const MaxCalibrationBytes = 1 << 20

// ParseCalibration reads the text of a calibration file as strictly as its
// published schema, and checks that its counts add up.
func ParseCalibration(name string, b []byte) (c Calibration, err error) {
	if err := doc.DecodeJSON(name, b, &c); err != nil {
		return Calibration{}, err
	}
	if err := c.check(); err != nil {
		return Calibration{}, fmt.Errorf("%s: %w", name, err)
	}
	return c, nil
}

// check checks the consistency of the members; their forms check each of them.
func (c *Calibration) check() error {
	var drawn AgreementTable
	for _, s := range c.Strata {
		if s.Stratum != JudgePass && s.Stratum != JudgeFail {
			drawn = AgreementTable{
				drawn.TruePass + s.TruePass, drawn.FalseFail + s.FalseFail,
				drawn.TrueFail + s.TrueFail, drawn.FalsePass + s.FalsePass,
			}
		}
	}
	switch {
	case c.Design == Internal && c.Table.N() > 0:
		return errors.New("labels drawn by verdict make no table")
	case drawn != c.Table:
		return errors.New("the strata that were not drawn by verdict do not add up to the table")
	case c.Worth != nil && (c.Worth.Pass > float64(c.Table.TruePass+c.Table.FalseFail) ||
		c.Worth.Fail > float64(c.Table.TrueFail+c.Table.FalsePass)):
		return errors.New("the labels are worth more than there are")
	}
	return nil
}
