// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package assets

import (
	"bytes"
	"context"
	_ "embed" // the example of an import
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"path"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/account"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/library"
	"github.com/callvet/callvet/internal/server/api"
)

// maxUpload bounds a file that is sent, in bytes.
const maxUpload = 32 << 20

// importExample is the response of GET /api/tool-eval/import/example. It can be imported unchanged.
//
//go:embed example.json
var importExample []byte

// Upload is a request with a file as its body, or a form with one (multipart/form-data).
type Upload struct {
	ContentType string `header:"Content-Type" hidden:"true"`
	RawBody     []byte
}

// uploaded describes a body that is JSON or a form with a file.
func uploaded(op huma.Operation, doc string) huma.Operation {
	op.MaxBodyBytes, op.SkipValidateBody = maxUpload, true
	form := &huma.Schema{
		Type: huma.TypeObject, Required: []string{"file"},
		Properties: map[string]*huma.Schema{"file": {Type: huma.TypeString, Format: "binary", Description: doc}},
	}
	op.RequestBody = &huma.RequestBody{Required: true, Description: doc, Content: map[string]*huma.MediaType{
		"application/json":    {Schema: &huma.Schema{Description: doc}},
		"multipart/form-data": {Schema: form},
	}}
	return op
}

// file returns the file of the request with its name; the name is "" if the body is not a form. A
// form has one file, "file", and nothing else.
func (u *Upload) file() (text []byte, name string, err error) {
	kind, params, err := mime.ParseMediaType(u.ContentType)
	if u.ContentType == "" {
		kind, err = "application/json", nil
	}
	switch {
	case err != nil:
		return nil, "", huma.Error415UnsupportedMediaType("Content-Type cannot be read")
	case kind == "application/json" || kind == "application/yaml" || kind == "text/yaml" || kind == "text/plain" ||
		kind == "application/octet-stream" || kind == "application/x-ndjson":
		return u.RawBody, "", nil
	case kind != "multipart/form-data":
		return nil, "", huma.Error415UnsupportedMediaType(
			fmt.Sprintf("a body of %s is not read: send application/json, or multipart/form-data with a file", kind))
	}
	form := multipart.NewReader(bytes.NewReader(u.RawBody), params["boundary"])
	for {
		part, err := form.NextPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, "",
				&callvet.FieldError{Text: "the form cannot be read: its parts or their boundary are not right"}
		}
		if part.FormName() != "file" {
			return nil, "", &callvet.FieldError{Text: fmt.Sprintf("the form has the part %q, and only file is read",
				part.FormName())}
		}
		if text != nil {
			return nil, "", &callvet.FieldError{Field: "file", Text: "{file}: the form has several"}
		}
		if text, err = io.ReadAll(part); err != nil { // the body is bounded
			return nil, "", &callvet.FieldError{Field: "file", Text: "{file}: the form ends before the file does"}
		}
		name = path.Base(strings.ReplaceAll(part.FileName(), `\`, "/"))
	}
	if text == nil {
		return nil, "", &callvet.FieldError{Field: "file", Text: "{file}: the form has none"}
	}
	return text, name, nil
}

// Imported is a suite that was imported.
type Imported struct {
	SuiteID   string `json:"suite_id"`
	Name      string `json:"name"`
	Version   int64  `json:"version"`
	Hash      string `json:"hash"`
	Form      string `json:"form" doc:"the stored form"`
	ToolCount int64  `json:"tool_count"`
	CaseCount int64  `json:"test_case_count"`
	// Warnings are the linter's findings that are not errors.
	Warnings []Remark `json:"warnings" nullable:"false"`
}

func addImport(s *api.Server) {
	op := api.Operations("import", "")
	api.Add(s, api.Returning(http.StatusCreated, uploaded(op("import-suite", http.MethodPost, "/api/tool-eval/import",
		"Makes a suite of a file, in any form that callvet reads."), "a suite; the form is found by content")),
		api.Access{Role: account.Member}, api.With(s, importSuite))
	api.Add(s,
		op("import-example", http.MethodGet, "/api/tool-eval/import/example",
			"Gives a file to start from, which can be imported as it stands."), api.Access{},
		func(context.Context, *account.Principal, *struct{}) (*File, error) {
			return &File{
				ContentType: "application/json", Disposition: `attachment; filename="suite.json"`,
				Body: importExample,
			}, nil
		})
	api.Answer(s,
		op("list-suite-forms", http.MethodGet, "/api/tool-eval/forms",
			"Lists the forms of suites: those that are read, and those that are written."), api.Access{},
		func(context.Context, *account.Principal, *struct{}) (*SuiteForms, error) {
			return &SuiteForms{Read: app.SuiteForms(), Write: library.Exports()}, nil
		})
	api.Add(s, op("get-schema", http.MethodGet, "/api/schemas/{name}",
		"Gives the JSON Schema of a format of files, as callvet schema prints it."), api.Access{}, getSchema)
	api.Answer(s,
		op("lint", http.MethodPost, "/api/lint", "Lists what is wrong with a suite, with places, and keeps nothing."),
		api.Access{Scope: account.ScopeRead, Reads: true}, api.With(s, lintText))
}

// SuiteForms are names of forms of suites.
type SuiteForms struct {
	Read  []string `json:"read" nullable:"false" doc:"what imports and the linter take as format"`
	Write []string `json:"write" nullable:"false" doc:"what exports take as format; the first one is the usual one"`
}

func getSchema(_ context.Context, _ *account.Principal, in *struct {
	Name string `path:"name" maxLength:"64" doc:"suite, targets, trace, tool, gates, …"`
},
) (*File, error) {
	b, err := app.Schema(in.Name)
	if err != nil {
		return nil, err
	}
	return &File{ContentType: "application/schema+json", Body: b}, nil
}

func importSuite(ctx context.Context, s *api.Server, by *account.Principal, in *struct {
	Upload
	Format string `query:"format" doc:"the form of the file; empty: it is found by content"`
},
) (*Versioned[Imported], error) {
	if err := knownForm(in.Format); err != nil {
		return nil, err
	}
	text, name, err := in.file()
	if err != nil {
		return nil, err
	}
	d, err := s.Library.Import(ctx, text, in.Format, strings.TrimSuffix(name, path.Ext(name)))
	if err != nil {
		return nil, unplaced(err)
	}
	w, err := s.Library.Add(ctx, by.User, d, "imported", false)
	if err != nil {
		return nil, err
	}
	return &Versioned[Imported]{Etag(w.Version), imported(w)}, nil
}

func imported(w *library.Written) Imported {
	return Imported{
		SuiteID: w.ID, Name: w.Name, Version: w.Version, Hash: w.Hash, Form: w.Form, ToolCount: w.Tools,
		CaseCount: w.Cases, Warnings: Remarks(w.Warnings),
	}
}

func knownForm(form string) error {
	if form == "" || slices.Contains(app.SuiteForms(), form) {
		return nil
	}
	return &callvet.FieldError{
		Field: "format", Text: fmt.Sprintf("{format} %q is not known", form),
		Fix: "one of " + strings.Join(app.SuiteForms(), ", "),
	}
}

// unplaced gives an error about an unreadable suite its kind: it is the client's mistake.
func unplaced(err error) error {
	if api.Status(err) != http.StatusInternalServerError {
		return err
	}
	return fmt.Errorf("read suite: %w: %w", callvet.ErrInvalid, err)
}

// LintAnswer contains the findings on a suite.
type LintAnswer struct {
	OK        bool     `json:"ok" doc:"there is no error; there may be warnings"`
	Form      string   `json:"form" doc:"empty where it cannot be read"`
	CaseCount int      `json:"test_case_count"`
	Problems  []Remark `json:"problems" nullable:"false"`
}

func lintText(ctx context.Context, s *api.Server, _ *account.Principal, in *struct {
	Body struct {
		Text   string `json:"text" maxLength:"8000000" doc:"the suite as a file has it"`
		Format string `json:"format,omitempty" required:"false" doc:"the form of the text; empty: it is found by content"`
	}
},
) (*LintAnswer, error) {
	if err := knownForm(in.Body.Format); err != nil {
		return nil, err
	}
	form, cases, problems, err := s.Library.Read(ctx, []byte(in.Body.Text), in.Body.Format)
	out := LintAnswer{Form: form, CaseCount: cases, Problems: Remarks(problems)}
	if err = unplacedOrNil(err); err != nil {
		if api.Status(err) == http.StatusInternalServerError {
			return nil, err
		}
		if !slices.ContainsFunc(problems, func(p library.Placed) bool { return !p.Warning }) {
			out.Problems = append(out.Problems, unreadable(s, err))
		}
	}
	out.OK = !slices.ContainsFunc(out.Problems, func(r Remark) bool { return !r.Warning })
	return &out, nil
}

// unreadable is the reason why a text is not a suite, with its place if known.
func unreadable(s *api.Server, err error) Remark {
	hide := s.Config.App.Secrets().Hide
	if p, ok := errors.AsType[callvet.Problem](err); ok {
		return Remark{Line: p.Line, Column: p.Column, Code: p.Code, Message: hide(p.Message), Fix: hide(p.Fix)}
	}
	return Remark{Code: "unreadable", Message: hide(err.Error())}
}

func unplacedOrNil(err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	return unplaced(err)
}
