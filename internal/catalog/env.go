// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package catalog

import (
	"context"
	"fmt"
	"iter"
	"net/http"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/retrieve"
)

// Models opens what makes vectors and what orders the best tools anew. One value serves one
// request, or one run; whoever made it lets go of it.
type Models interface {
	// Open sets the embedder with its cache, and the reranker, of the models named; empty
	// names none. The same model is opened once.
	Open(ctx context.Context, embed, rerank string, o *retrieve.Options) error
	// Used is what was asked of the models so far, in the order in which they were opened.
	Used() []callvet.ModelUse
}

// Answers is a run in which models were asked about a suite that was made for them.
type Answers struct {
	Run string
	// Status is how the run ended: "done", or why it has not all attempts.
	Status string
	// About is the description of the suite.
	About   string
	Targets []string // their names
	// Attempts may be gone through once.
	Attempts iter.Seq2[Attempt, error]
}

// Attempt is one attempt at one case.
type Attempt struct {
	Case *callvet.Case
	Cell *callvet.Cell
}

// Env is what requests are carried out with. Functions that a request has no use for may
// be nil.
type Env struct {
	Files Files
	// Existing reads a file that is to be written over; there is false where none would
	// be lost.
	Existing func(name string) (data []byte, there bool, err error)
	// Write gives a file that a request named these bytes, all of them or none.
	Write func(ctx context.Context, name string, data []byte) error
	// Suite reads a suite with its cases over tools.
	Suite func(ctx context.Context, name string, tools []callvet.Tool) (*callvet.Suite, error)
	// Indexes keeps what Open made for those that ask models nothing; nil: nothing is kept.
	Indexes *Indexes
	// Models are those of one request, which the caller closes after it.
	Models Models
	// Ask carries out a suite that was made of the one named, with the models of the request,
	// and keeps it as a run; read is called with what came out, also where that is a part.
	Ask func(ctx context.Context, suite string, made *callvet.Suite, read func(*Answers) error) error
	// Lookup reads a variable that a header of a service names.
	Lookup func(name string) string
	// HTTP asks services; nil: one of its own, which follows no redirect.
	HTTP *http.Client
	Now  func() time.Time
	// Notify gets what a person should know while the work goes on; Progress how many of the
	// searches are made, after each. Nil: nobody does.
	Notify   func(callvet.Notice)
	Progress func(done, total int)
}

// Notice tells what a person should know, to whoever listens.
func (e *Env) Notice(code, format string, args ...any) {
	if e.Notify != nil {
		e.Notify(callvet.Notice{Code: code, Text: fmt.Sprintf(format, args...)})
	}
}

// Read reads a file of at most MaxFileBytes.
func (e *Env) Read(name string) ([]byte, error) { return e.Files.Read(name, MaxFileBytes) }

// Catalogue reads a catalog, as LoadFile does.
func (e *Env) Catalogue(name string) (*retrieve.Catalogue, []callvet.Problem, error) {
	return LoadFile(name, e.Files)
}

// FormZip is the form of a catalog that was plain JSON, compressed.
const FormZip = FormCompressed

// JSON reads a catalog as JSON, as PlainText does; data is what the file holds.
func (e *Env) JSON(name string) (data []byte, t FileText, err error) {
	if data, err = e.Read(name); err == nil {
		t, err = PlainText(name, data)
	}
	if err != nil {
		return nil, t, fmt.Errorf("read catalogue: %w", err)
	}
	return data, t, nil
}

// Routes reads what decides routes, as OpenRoutes does.
func (e *Env) Routes(name string) (retrieve.Router, []string, error) {
	return OpenRoutes(name, e.Files)
}

// Old reads a file that is to be written over; there is false where none would be
// lost. What cannot be read may hold anything: that is an error that wraps
// callvet.ErrConflict, and "-", which is no file, one that wraps callvet.ErrInvalid.
func (e *Env) Old(name string) (data []byte, there bool, err error) {
	if name == "-" {
		return nil, false, Invalid("output", "{output} with a name",
			"write -: invalid: it is written to a file, whole or not at all")
	}
	if data, there, err = e.Existing(name); err != nil {
		return nil, true, Conflict("write %s: conflict: what is there cannot be read: %v", name, err)
	}
	return data, there, nil
}

// Conflict is a request that would write over what it did not make.
func Conflict(format string, args ...any) error {
	return &callvet.FieldError{
		Field: "output", Kind: callvet.ErrConflict, Text: fmt.Sprintf(format, args...),
		Fix: "{output} with another name",
	}
}
