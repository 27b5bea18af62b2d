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

// Models opens embedders and rerankers. One value serves one request, or one run; its maker
// closes it.
type Models interface {
	// Open sets the embedder with its cache, and the reranker, of the named models; an empty name
	// means none. The same model is opened once.
	Open(ctx context.Context, embed, rerank string, o *retrieve.Options) error
	// Used is the usage of the models so far, in the order of opening.
	Used() []callvet.ModelUse
}

// Answers is a run of models over a suite made for them.
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

// Env has the resources for carrying out requests. Functions that a request does not use may be
// nil.
type Env struct {
	Files Files
	// Existing reads a file that will be overwritten; there is false where none would be lost.
	Existing func(name string) (data []byte, there bool, err error)
	// Write writes these bytes to a file that a request named, whole or not at all.
	Write func(ctx context.Context, name string, data []byte) error
	// Suite reads a suite with its cases over tools.
	Suite func(ctx context.Context, name string, tools []callvet.Tool) (*callvet.Suite, error)
	// Indexes keeps the indexes that Open made for searches without models; nil: none are kept.
	Indexes *Indexes
	// Models are the models of one request; the caller closes them after it.
	Models Models
	// Ask carries out a suite made from the named one, with the models of the request, and stores
	// it as a run. read is called with the answers, also if they are incomplete.
	Ask func(ctx context.Context, suite string, made *callvet.Suite, read func(*Answers) error) error
	// Lookup reads a variable that a header of a service names.
	Lookup func(name string) string
	// HTTP sends requests to services; nil: a new client, which follows no redirect.
	HTTP *http.Client
	Now  func() time.Time
	// Notify is called with notices for a person during the work, Progress with the number of
	// finished searches after each. Nil: not called.
	Notify   func(callvet.Notice)
	Progress func(done, total int)
}

// Notice sends a notice for a person to Notify.
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

// JSON reads a catalog as JSON, like PlainText; data is the content of the file.
func (e *Env) JSON(name string) (data []byte, t FileText, err error) {
	if data, err = e.Read(name); err == nil {
		t, err = PlainText(name, data)
	}
	if err != nil {
		return nil, t, fmt.Errorf("read catalogue: %w", err)
	}
	return data, t, nil
}

// Routes reads the rules or the model of routes, as OpenRoutes does.
func (e *Env) Routes(name string) (retrieve.Router, []string, error) {
	return OpenRoutes(name, e.Files)
}

// Old reads a file that will be overwritten; there is false where none would be lost. An
// unreadable file may contain anything: the error wraps callvet.ErrConflict. For "-", which is no
// file, it wraps callvet.ErrInvalid.
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

// Conflict is the error of a request that would overwrite a file it did not make.
func Conflict(format string, args ...any) error {
	return &callvet.FieldError{
		Field: "output", Kind: callvet.ErrConflict, Text: fmt.Sprintf(format, args...),
		Fix: "{output} with another name",
	}
}
