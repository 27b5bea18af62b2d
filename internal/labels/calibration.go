// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package labels

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/stats"
	"github.com/callvet/callvet/stats/judge"
	"github.com/callvet/callvet/value"
)

// CalibrationFormat stands in every calibration file.
const CalibrationFormat = "callvet.calibration"

// StratumTable is the part of a table whose things were drawn in one way.
type StratumTable struct {
	Stratum Stratum `json:"stratum,omitempty"`
	Table
	Frame *Frame `json:"frame,omitempty"`
}

// Calibration is what a judge did with labelled things, as it travels to other
// runs: a calibration file.
type Calibration struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	Judge   Judge  `json:"judge"`
	Unit    Unit   `json:"unit"`
	// Design is Transport where the table may be used for other runs, Internal
	// where its labels were drawn by the judge's verdict and may not.
	Design Design `json:"design"`
	Table  Table  `json:"table"`
	// Strata are the calibration labels by how they were drawn; those drawn by
	// verdict are not in Table.
	Strata []StratumTable `json:"strata"`
	Roles  []Role         `json:"roles"`
	// Source names the file of the labels.
	Source string    `json:"source,omitempty"`
	Made   time.Time `json:"made"`
	Stats  string    `json:"stats_version"`
}

func strataOf(ps []pair) []StratumTable {
	var out []StratumTable
	for _, p := range ps {
		i := slices.IndexFunc(out, func(t StratumTable) bool { return t.Stratum == p.stratum && equal(t.Frame, p.frame) })
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
func (r *Report) Calibration(source string, made time.Time) Calibration {
	c := Calibration{
		Format: CalibrationFormat, Version: Version, Judge: r.Judge, Unit: r.Unit, Design: Transport, Table: r.Table, Strata: r.strata,
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
			Err:  fmt.Errorf("use calibration of %s: %w: its labels were drawn by the judge's verdict and hold for their own run only", c.Judge.ID(), callvet.ErrInvalid),
			Hint: "callvet label next --strategy random, then calibrate again",
		}
	}
	return c.Table.Calibration(), nil
}

// AppliesTo says why the calibration is not for a judge; nil when it is.
// The error wraps callvet.ErrConflict.
func (c *Calibration) AppliesTo(j Judge) error {
	if d := c.Judge.Differs(j); d != nil {
		return fmt.Errorf("use calibration: %w: it was made for %s, the verdicts are of %s: %v differs", callvet.ErrConflict, c.Judge, j, d)
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

// LoadCalibration reads a calibration file. The error wraps callvet.ErrInvalid
// when it is none.
func LoadCalibration(path string) (Calibration, error) {
	f, err := os.Open(path)
	if err != nil {
		return Calibration{}, fmt.Errorf("read calibration: %w", err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxLine+1))
	if err != nil {
		return Calibration{}, fmt.Errorf("read calibration: %w", err)
	}
	c, err := ParseCalibration(b)
	if err != nil {
		return Calibration{}, fmt.Errorf("read calibration %s: %w: %w", path, callvet.ErrInvalid, err)
	}
	return c, nil
}

// ParseCalibration reads the text of a calibration file as strictly as its
// published schema, and checks that its counts add up.
func ParseCalibration(b []byte) (Calibration, error) {
	if len(b) > maxLine {
		return Calibration{}, fmt.Errorf("longer than %d bytes", maxLine)
	}
	v, err := value.Parse(bytes.TrimSpace(b))
	if err != nil {
		return Calibration{}, err
	}
	if v.Kind() != value.Object {
		return Calibration{}, fmt.Errorf("is %s, not an object", v.Kind())
	}
	if err := calibrationShape().check(v, ""); err != nil {
		return Calibration{}, err
	}
	for _, name := range []string{"format", "version", "judge", "unit", "design", "table", "strata", "roles", "made", "stats_version"} {
		if _, ok := v.Get(name); !ok {
			return Calibration{}, fmt.Errorf("%s is missing", name)
		}
	}
	var c Calibration
	if err := json.Unmarshal(b, &c); err != nil {
		return Calibration{}, plainError(err)
	}
	return c, c.check()
}

func (t Table) valid() bool { return min(t.TruePass, t.FalseFail, t.TrueFail, t.FalsePass) >= 0 }

func (c *Calibration) check() error {
	switch {
	case c.Format != CalibrationFormat:
		return fmt.Errorf("format is %q, not %s", c.Format, CalibrationFormat)
	case c.Version != Version:
		return fmt.Errorf("version %d is not known", c.Version)
	case c.Judge.Name == "":
		return errors.New("judge.judge is missing")
	case c.Unit != Task && c.Unit != Call:
		return unknownWord("unit", string(c.Unit), []string{string(Task), string(Call)})
	case c.Design != Internal && c.Design != Transport:
		return unknownWord("design", string(c.Design), []string{string(Internal), string(Transport)})
	case !c.Table.valid():
		return errors.New("table counts below 0")
	case c.Design == Internal && c.Table.N() > 0:
		return errors.New("labels drawn by verdict make no table")
	}
	return c.checkStrata()
}

// checkStrata holds the strata against the table they add up to.
func (c *Calibration) checkStrata() error {
	var drawn Table
	for _, s := range c.Strata {
		switch {
		case !s.valid() || !s.Frame.valid():
			return errors.New("strata count below 0")
		case s.Stratum == JudgePass || s.Stratum == JudgeFail:
		case s.Stratum != "" && s.Stratum != Random:
			return unknownWord("stratum", string(s.Stratum), []string{string(Random), string(JudgePass), string(JudgeFail)})
		default:
			drawn = Table{drawn.TruePass + s.TruePass, drawn.FalseFail + s.FalseFail, drawn.TrueFail + s.TrueFail, drawn.FalsePass + s.FalsePass}
		}
	}
	if drawn != c.Table {
		return errors.New("the strata that were not drawn by verdict do not add up to the table")
	}
	for _, r := range c.Roles {
		if r != Calibrating {
			return fmt.Errorf("role %q makes no calibration: only %s labels do", r, Calibrating)
		}
	}
	return nil
}

func calibrationShape() shape {
	table := shape{"tp": nil, "fn": nil, "tn": nil, "fp": nil}
	return shape{
		"format": nil, "version": nil, "unit": nil, "design": nil, "table": table, "roles": nil, "source": nil, "made": nil, "stats_version": nil,
		"judge":  shape{"judge": nil, "model": nil, "prompt_hash": nil, "params": nil, "threshold": nil},
		"strata": shape{"stratum": nil, "tp": nil, "fn": nil, "tn": nil, "fp": nil, "frame": frameShape()},
	}
}
