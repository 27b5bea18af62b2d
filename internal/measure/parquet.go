// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package measure

import (
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"

	"github.com/callvet/callvet"
)

// ParquetRow is one scored call. Pointers are nil if the trace has no value or no label; times are
// in milliseconds.
type ParquetRow struct {
	// Line counts from 1 through all files of a reading.
	Line    int64  `parquet:"line,delta"`
	Target  string `parquet:"target,dict"`
	Task    string `parquet:"task_id,dict"`
	Attempt int32  `parquet:"attempt"`
	Turn    *int32 `parquet:"turn_id,optional"`
	Call    string `parquet:"call_id"`
	Tool    string `parquet:"tool,dict"`
	Version string `parquet:"tool_version,dict"`
	Status  string `parquet:"status,dict"`
	Gold    string `parquet:"gold_tool,dict"`

	SchemaValid *bool `parquet:"schema_valid,optional"`
	KnownTool   *bool `parquet:"known_tool,optional"`
	Selection   *bool `parquet:"tool_selection,optional"`
	Needed      *bool `parquet:"needed,optional"`
	ArgEM       *bool `parquet:"arg_em,optional"`
	Executed    *bool `parquet:"execution_success,optional"`
	RateLimited *bool `parquet:"rate_limited,optional"`
	Timeout     *bool `parquet:"timeout,optional"`
	Rejected    *bool `parquet:"rejected,optional"`
	Equal       *bool `parquet:"result_consistency,optional"`
	Holds       *bool `parquet:"postcondition,optional"`
	Safe        *bool `parquet:"safe,optional"`
	Repaired    *bool `parquet:"repaired,optional"`
	InBudget    *bool `parquet:"latency_budget_kept,optional"`
	InP50       *bool `parquet:"latency_budget_p50_kept,optional"`

	ArgsMatched  *int32 `parquet:"args_matched,optional"`
	ArgsExpected *int32 `parquet:"args_expected,optional"`
	ArgsEmitted  *int32 `parquet:"args_emitted,optional"`
	ArgsUnion    *int32 `parquet:"args_union,optional"`

	AcceptMS *float64 `parquet:"accept_ms,optional"`
	QueueMS  *float64 `parquet:"queue_ms,optional"`
	ExecMS   *float64 `parquet:"exec_ms,optional"`

	Tags   []string          `parquet:"tags,list"`
	Fields map[string]string `parquet:"fields"`
}

// SetScore fills the measurements from a score.
func (r *ParquetRow) SetScore(s callvet.StepScore) {
	for m, p := range map[callvet.StepMetric]**bool{
		callvet.StepSchemaValid: &r.SchemaValid, callvet.StepKnownTool: &r.KnownTool,
		callvet.StepSelection: &r.Selection,
		callvet.StepNeeded:    &r.Needed, callvet.StepArgEM: &r.ArgEM, callvet.StepExecuted: &r.Executed,
		callvet.StepRateLimited: &r.RateLimited,
		callvet.StepTimeout:     &r.Timeout, callvet.StepRejected: &r.Rejected, callvet.StepEqual: &r.Equal,
		callvet.StepHolds: &r.Holds,
		callvet.StepSafe:  &r.Safe, callvet.StepRepaired: &r.Repaired, callvet.StepInBudget: &r.InBudget,
		callvet.StepInP50: &r.InP50,
	} {
		*p = nil
		if yes, known := s.Get(m); known {
			*p = &yes
		}
	}
	r.ArgsMatched, r.ArgsExpected, r.ArgsEmitted, r.ArgsUnion = nil, nil, nil, nil
	if _, known := s.Get(callvet.StepArgEM); known {
		a, b, c, d := int32(s.Matched), int32(s.Expected), int32(s.Emitted), int32(s.Union)
		r.ArgsMatched, r.ArgsExpected, r.ArgsEmitted, r.ArgsUnion = &a, &b, &c, &d
	}
}

// groupRows is the number of rows of a row group; it bounds the memory.
const groupRows = 50_000

// ParquetWriter writes rows. Not safe for concurrent use.
type ParquetWriter struct {
	w    *parquet.GenericWriter[ParquetRow]
	rows int
}

// NewParquetWriter starts a file on w.
func NewParquetWriter(w io.Writer) *ParquetWriter {
	return &ParquetWriter{w: parquet.NewGenericWriter[ParquetRow](w, parquet.Compression(&zstd.Codec{}),
		parquet.CreatedBy("callvet", "1", ""))}
}

// Write adds rows; they may be reused afterwards.
func (w *ParquetWriter) Write(rows []ParquetRow) error {
	if _, err := w.w.Write(rows); err != nil {
		return fmt.Errorf("write parquet rows: %w", err)
	}
	if w.rows += len(rows); w.rows >= groupRows {
		w.rows = 0
		if err := w.w.Flush(); err != nil {
			return fmt.Errorf("write parquet row group: %w", err)
		}
	}
	return nil
}

// Close ends the file; an unclosed file cannot be read.
func (w *ParquetWriter) Close() error {
	if err := w.w.Close(); err != nil {
		return fmt.Errorf("end parquet file: %w", err)
	}
	return nil
}
