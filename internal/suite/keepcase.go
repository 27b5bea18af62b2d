// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package suite

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/doc"
	"github.com/callvet/callvet/internal/suite/dialect"
)

// IsEvalFile reports whether cases that are added to a file get the form of Eval Case Interfaces.
// That is so if the file has that form, or is new and named like such files, TOOL.TIER.json.
func IsEvalFile(file string, data []byte) bool {
	if data = bytes.TrimSpace(data); len(data) > 0 {
		return data[0] == '[' || Form(data, file) == dialect.Forge
	}
	stem, isJSON := strings.CutSuffix(filepath.Base(file), ".json")
	tiers := []callvet.Tier{callvet.TierGolden, callvet.TierLabeled, callvet.TierRegression}
	return isJSON && slices.ContainsFunc(tiers, func(t callvet.Tier) bool {
		return strings.HasSuffix(stem, "."+string(t))
	})
}

// Adopted is a case of one suite in the form for another suite (Moved), with its new id (FreeID).
// l is the lock of the file, empty without one. The error wraps callvet.ErrConflict where the
// suite already has the prompt.
func Adopted(c *callvet.Case, from, to *callvet.Suite, tool string,
	l *Lock,
) (moved callvet.Case, differ []string, err error) {
	for i := range to.Cases {
		if q := c.Question(); q != "" && len(c.Input) == len(to.Cases[i].Input) && to.Cases[i].Question() == q {
			return moved, nil, fmt.Errorf("add a case to %s: %w: %s has the same prompt", to.Name, callvet.ErrConflict,
				to.Cases[i].ID)
		}
	}
	moved, differ = Moved(c, from, to)
	moved.ID = FreeID(moved.Tier, c.ID, tool, to.Cases, l)
	return moved, differ, nil
}

// Kept is a case that was added to a suite.
type Kept struct {
	Data []byte // of the file
	// Suite is the content of the file after the change. The case is its last one.
	Suite *callvet.Suite
	// Differ names the settings that a case cannot have itself and that differ between the two
	// suites.
	Differ []string
}

// KeepCase adds the only case of one to a file of callvet's own form, which may be new (no data),
// and its entry to the lock. to is the suite of the file; nil where it is new. The other bytes of
// the file stay as they are. The error wraps callvet.ErrInvalid for a file of another form, and
// callvet.ErrConflict where the suite already has the prompt.
func KeepCase(file string, data []byte, l *Lock, one, to *callvet.Suite, tool string, now time.Time,
	state json.RawMessage,
) (*Kept, error) {
	form := "json"
	if doc.IsYAML(file, data) {
		form = "yaml"
	}
	out := &Kept{}
	var err error
	if blank(data) {
		alone := *one
		alone.Cases = slices.Clone(one.Cases)
		alone.Cases[0].ID = FreeID(alone.Cases[0].Tier, alone.Cases[0].ID, tool, nil, l)
		out.Data, err = Export(&alone, form)
	} else {
		if Form(data, file) != OwnForm {
			return nil,
				fmt.Errorf("add a case to %s: %w: cases are added to suites of callvet's own form and to eval files",
					file, callvet.ErrInvalid)
		}
		var moved callvet.Case
		if moved, out.Differ, err = Adopted(&one.Cases[0], one, to, tool, l); err == nil {
			out.Data, err = inserted(file, data, form, to, &moved)
		}
	}
	if err != nil {
		return nil, err
	}
	s, problems, err := parse(out.Data, file, Options{KeepTokens: true, Tools: nil, Dialect: OwnForm})
	if err != nil {
		return nil, err
	}
	if HasErrors(problems) || to != nil && len(s.Cases) != len(to.Cases)+1 {
		return nil, &callvet.Hinted{
			Err: fmt.Errorf("add a case to %s: %w: the case cannot be put behind the last one as the file is written",
				file, callvet.ErrInvalid),
			Hint: "write its cases one below the other, or name a new file",
		}
	}
	out.Suite = s
	_, err = l.Seal(file, out.Data, s.Cases[len(s.Cases)-1:], now, state)
	return out, err
}

// inserted is the text of a file with a case after its last one.
func inserted(file string, data []byte, form string, to *callvet.Suite, c *callvet.Case) ([]byte, error) {
	fresh, err := Export(&callvet.Suite{Name: to.Name, Tools: to.Tools, Cases: []callvet.Case{*c}}, form)
	if err != nil {
		return nil, err
	}
	name := "case." + form
	alone, _, err := parse(fresh, name, Options{KeepTokens: true, NoIncludes: true, Dialect: OwnForm})
	if err != nil {
		return nil, err
	}
	was, _, err := parse(data, file, Options{KeepTokens: true, Dialect: OwnForm})
	if err != nil {
		return nil, err
	}
	if len(was.Cases) == 0 || len(alone.Cases) != 1 {
		return nil, fmt.Errorf("add a case to %s: %w: the file has no list of cases", file, callvet.ErrInvalid)
	}
	at := textsOf(name, fresh, []callvet.Position{alone.Cases[0].Position})[0]
	last := textsOf(file, data, []callvet.Position{was.Cases[len(was.Cases)-1].Position})[0]
	text := fresh[at.from:at.to]
	if form == "json" {
		return slices.Concat(data[:last.to], []byte(",\n"), text, data[last.to:]), nil
	}
	head := data[:last.from]
	line := head[bytes.LastIndexByte(head, '\n')+1:]
	dash := bytes.LastIndexByte(line, '-')
	if dash < 0 {
		return nil, fmt.Errorf("add a case to %s: %w: its cases are not written one below the other", file,
			callvet.ErrInvalid)
	}
	begin := bytes.LastIndexByte(fresh[:at.from], '\n') + 1
	indent := bytes.Repeat([]byte(" "), at.from-begin)
	own := strings.Repeat(" ", dash+2)
	var b bytes.Buffer
	b.WriteString("\n" + strings.Repeat(" ", dash) + "- ")
	for i, l := range bytes.SplitAfter(text, []byte("\n")) {
		if l = bytes.TrimPrefix(l, indent); i > 0 && len(bytes.TrimSpace(l)) > 0 {
			b.WriteString(own)
		}
		b.Write(l)
	}
	return slices.Concat(data[:last.to], b.Bytes(), data[last.to:]), nil
}
