// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package traces

import (
	"context"
	"fmt"
	"io"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/results"
	"github.com/callvet/callvet/internal/measure"
)

// scoreInto scores trace files, and writes the scored calls as a table.
func scoreInto(ctx context.Context, a *app.App, name string, r reading, events app.Events) (*results.Scored, error) {
	if partial, err := a.IsPartial(r.Traces[0]); err != nil || partial {
		if err == nil {
			err = &callvet.FieldError{
				Field: "outputs", Text: fmt.Sprintf("write %s: partial results hold sums, not calls", name),
				Fix: "write a .parquet file for each part, when its partial result is made",
			}
		}
		return nil, err
	}
	var s *results.Scored
	err := a.Config.Files.Write(ctx, name, func(to io.Writer) error {
		w := measure.NewParquetWriter(to)
		r.each = func(list []measure.Scored) error {
			rows := make([]measure.ParquetRow, len(list))
			for i := range list {
				rows[i] = row(&list[i])
			}
			return w.Write(rows)
		}
		var err error
		if s, err = sumFiles(ctx, a, r, events); err != nil {
			return err
		}
		return w.Close()
	})
	return s, err
}

// row converts a scored step to a row. The line counts through the files.
func row(x *measure.Scored) measure.ParquetRow {
	s := &x.Step
	r := measure.ParquetRow{
		Line: x.Line, Target: s.Target, Task: s.TaskID, Attempt: int32(s.Attempt), Call: s.CallID, Tool: s.Tool,
		Version: s.ToolVersion,
		Status:  string(s.Status), AcceptMS: s.AcceptMS, QueueMS: s.QueueMS, ExecMS: s.ExecMS, Tags: s.Tags,
		Fields: s.Fields,
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
