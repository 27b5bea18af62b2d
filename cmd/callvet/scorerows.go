// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/columns"
	"github.com/callvet/callvet/internal/file"
	"github.com/callvet/callvet/internal/measure"
	"github.com/callvet/callvet/internal/report/sheet"
)

// scoreOutputs tells reports from tables of scored calls, and refuses a name
// that is neither before anything is read.
func scoreOutputs(f scoreFlags) (reports, tables []string, err error) {
	for _, path := range f.out {
		if strings.EqualFold(filepath.Ext(path), ".parquet") {
			tables = append(tables, path)
			continue
		}
		if _, err := sheet.ByPath(path); err != nil {
			return nil, nil, err
		}
		reports = append(reports, path)
	}
	if len(tables) > 1 {
		return nil, nil, usagef("one .parquet file at a time, not %d", len(tables))
	}
	return reports, tables, nil
}

// scoreWith scores, and writes the scored calls where a table was asked for.
func (a *app) scoreWith(ctx context.Context, paths []string, f scoreFlags, tables []string) (*scored, error) {
	if len(tables) == 0 {
		return a.scoreTraces(ctx, paths, f)
	}
	if partial, err := a.isPartial(paths[0]); err != nil || partial {
		if err == nil {
			err = &callvet.Hinted{
				Err:  fmt.Errorf("write %s: partial results hold sums, not calls: %w", tables[0], callvet.ErrInvalid),
				Hint: "write a .parquet file for each part: callvet score part1.jsonl --partial 1.part -o 1.parquet",
			}
		}
		return nil, err
	}
	var s *scored
	err := file.Write(ctx, a.path(tables[0]), func(to io.Writer) error {
		w := columns.NewWriter(to)
		var err error
		s, err = a.scoreEach(ctx, paths, f, func(list []measure.Scored) error {
			rows := make([]columns.Row, len(list))
			for i := range list {
				rows[i] = row(&list[i])
			}
			return w.Write(rows)
		})
		if err != nil {
			return err
		}
		return w.Close()
	})
	return s, err
}

// row is a scored step as a row. The line counts through the files.
func row(x *measure.Scored) columns.Row {
	s := &x.Step
	r := columns.Row{
		Line: x.Line, Target: s.Target, Task: s.TaskID, Attempt: int32(s.Attempt), Call: s.CallID, Tool: s.Tool, Version: s.ToolVersion,
		Status: string(s.Status), AcceptMS: s.AcceptMS, QueueMS: s.QueueMS, ExecMS: s.ExecMS, Tags: s.Tags, Fields: s.Fields,
	}
	if s.TurnID >= 0 {
		turn := int32(s.TurnID)
		r.Turn = &turn
	}
	if s.Gold != nil {
		r.Gold = s.Gold.Tool
	}
	r.SetScore(x.Score)
	return r
}
