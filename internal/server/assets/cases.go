// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package assets

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	jsonx "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/account"
	"github.com/callvet/callvet/internal/library"
	"github.com/callvet/callvet/internal/server/api"
)

// Case is a test case with the fields of Tool Calling Evaluation, "Test Case". expected_params null
// is not scored, and {} is scored with 1.
type Case struct {
	ID                 string        `json:"id,omitzero" required:"false" maxLength:"256" doc:"never changes; made if missing"`
	Prompt             string        `json:"prompt,omitzero" required:"false" maxLength:"50000" doc:"what the user says"`
	ExpectedTool       api.ToolNames `json:"expected_tool,omitzero" required:"false" doc:"the expected tool, or several acceptable ones; null: no tool may be called"`
	ExpectedParams     api.Object    `json:"expected_params,omitzero" required:"false" doc:"the arguments; null: they are not scored, {}: none is expected, which scores 1"`
	ParamScoring       *string       `json:"param_scoring,omitzero" required:"false" nullable:"true" doc:"how arguments are compared: exact, fuzzy, contains, semantic, …"`
	ScoringConfig      api.Object    `json:"scoring_config,omitzero" required:"false" doc:"mode, epsilon, …"`
	ScoringConfigJSON  api.Object    `json:"scoring_config_json,omitzero" required:"false" doc:"another name of scoring_config"`
	Category           *string       `json:"category,omitzero" required:"false" nullable:"true" maxLength:"256"`
	ShouldCallTool     *bool         `json:"should_call_tool,omitzero" required:"false" nullable:"true"`
	MultiTurn          api.Turns     `json:"multi_turn,omitzero" required:"false"`
	MultiTurnConfig    api.Object    `json:"multi_turn_config,omitzero" required:"false"`
	MaxRounds          api.Count     `json:"max_rounds,omitzero" required:"false"`
	OptimalHops        api.Count     `json:"optimal_hops,omitzero" required:"false"`
	ValidPrerequisites api.Names     `json:"valid_prerequisites,omitzero" required:"false"`
	MockResponses      api.Object    `json:"mock_responses,omitzero" required:"false" doc:"what tools answer, by their names"`
	ArgumentSource     api.Object    `json:"argument_source,omitzero" required:"false"`
	Own                api.Object    `json:"case,omitzero" required:"false" doc:"the case in callvet's own form, instead of all other fields except id; responses contain it if the suite is stored in that form"`
	NotCarried         []string      `json:"not_carried,omitempty" required:"false" readOnly:"true" nullable:"false" doc:"data of the case that these fields cannot express; case contains it"`
}

// text is the case as it is stored in the document; own reports that it is in callvet's own form.
func (c *Case) text() (raw jsontext.Value, own bool, err error) {
	plain := *c
	plain.Own, plain.NotCarried, plain.ID = api.Object{}, nil, ""
	fields, err := jsonx.Marshal(&plain)
	if err != nil {
		return nil, false, fmt.Errorf("read case: %w: %w", callvet.ErrInvalid, err)
	}
	raw = fields
	if !api.Null(c.Own.RawMessage) {
		if string(fields) != "{}" {
			return nil, false, &callvet.FieldError{
				Field: "case",
				Text:  "{case}: it stands in place of the other fields, and there are some",
			}
		}
		raw, own = jsontext.Value(c.Own.RawMessage), true
	}
	if c.ID != "" {
		raw, err = library.WithID(raw, c.ID)
	}
	return raw, own, err
}

// written returns cases as they are stored in documents; own reports that one of them is in
// callvet's own form.
func written(list []Case) (cases []jsontext.Value, own bool, err error) {
	cases = make([]jsontext.Value, len(list))
	for i := range list {
		var one bool
		if cases[i], one, err = list[i].text(); err != nil {
			return nil, false, at(err, fmt.Sprintf("test_cases[%d].", i))
		}
		own = own || one
	}
	return cases, own, nil
}

// at puts a prefix before the field of an error.
func at(err error, prefix string) error {
	var f *callvet.FieldError
	if !errors.As(err, &f) {
		return err
	}
	moved := *f
	moved.Field = prefix + f.Field
	return &moved
}

// casesOf converts cases for a response.
func casesOf(list []library.CaseView) ([]Case, error) {
	out := make([]Case, len(list))
	for i := range list {
		v := &list[i]
		if err := jsonx.Unmarshal(v.Fields, &out[i]); err != nil {
			return nil, fmt.Errorf("show case %s: %w", v.ID, err)
		}
		c := &out[i]
		c.ID, c.Own.RawMessage, c.NotCarried = v.ID, json.RawMessage(v.Own), v.Lost
		if len(c.ExpectedTool.RawMessage) == 0 {
			c.ExpectedTool.RawMessage = json.RawMessage("null")
		}
		if len(c.ExpectedParams.RawMessage) == 0 {
			c.ExpectedParams.RawMessage = json.RawMessage("null")
		}
	}
	return out, nil
}

// CasePath is a path that names a case of a suite.
type CasePath struct {
	SuitePath
	Case string `path:"cid" maxLength:"256"`
}

func addCases(s *api.Server) {
	op := api.Operations("cases", suitesPath+"/{id}/cases")
	api.Add(s, op("list-test-cases", http.MethodGet, "", "Lists the cases of a suite, in their order."), ofSuite(""),
		api.With(s, listCases))
	create := op("create-test-cases", http.MethodPost, "",
		"Adds a case, or all of a list; with an error in one of them none is added.")
	create.DefaultStatus, create.SkipValidateBody = http.StatusCreated, true // Server.cases validates
	api.Add(s, create, ofSuite(account.Member), api.With(s, createCases))
	api.Add(s, op("get-test-case", http.MethodGet, "/{cid}", "Gives a case."), ofSuite(""), api.With(s, getCase))
	api.Add(s, op("update-test-case", http.MethodPut, "/{cid}",
		"Puts a case in place of another one, which keeps its id and its place."), ofSuite(account.Member),
		api.With(s, putCase))
	api.Add(s, api.Returning(http.StatusNoContent, op("delete-test-case", http.MethodDelete, "/{cid}",
		"Deletes a case. Runs that had it keep it.")), ofSuite(account.Member), api.With(s, deleteCase))
}

type caseList struct {
	api.Page[Case]
	Version int64 `json:"version" doc:"of the suite"`
	Total   int   `json:"total"`
}

// listCases returns a page of cases. A cursor holds the version of its first page, so that an edit
// between two pages neither hides nor repeats a case.
func listCases(ctx context.Context, s *api.Server, _ *account.Principal, in *struct {
	SuitePath
	api.PageIn
},
) (*Versioned[caseList], error) {
	e, err := s.Library.Entry(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	first := 0
	if in.Cursor != "" {
		mark, err := in.Mark()
		if err != nil {
			return nil, err
		}
		e.Version = mark.At
		if first, err = strconv.Atoi(mark.ID); err != nil || first < 0 {
			return nil, &callvet.FieldError{Field: "cursor", Text: "{cursor} is not that of a page"}
		}
	}
	v, err := s.Library.Version(ctx, in.ID, e.Version)
	if err != nil {
		return nil, err
	}
	view, err := v.Document.View()
	if err != nil {
		return nil, err
	}
	first = min(first, len(view.Cases))
	to := min(first+in.Limit, len(view.Cases))
	out := caseList{Version: e.Version, Total: len(view.Cases)}
	if to < len(view.Cases) {
		out.Next = api.PageMark{At: e.Version, ID: strconv.Itoa(to)}.String()
	}
	out.Items, err = casesOf(view.Cases[first:to])
	return &Versioned[caseList]{Etag(e.Version), out}, err
}

// oneOrMore is the JSON text of a case or of a list of cases.
type oneOrMore struct{ json.RawMessage }

// maxCases bounds how many cases one request adds.
const maxCases = 5000

// Schema describes the value; huma asks for it.
func (oneOrMore) Schema(r huma.Registry) *huma.Schema {
	one, least, most := r.Schema(reflect.TypeFor[Case](), true, "Case"), 1, maxCases
	return api.Kinds(one, &huma.Schema{Type: huma.TypeArray, Items: one, MinItems: &least, MaxItems: &most})
}

// casesIn reads one case or a list. It validates each case separately, so that an error names its
// place.
func casesIn(s *api.Server, b oneOrMore) (list []Case, many bool, err error) {
	raw := []jsontext.Value{jsontext.Value(b.RawMessage)}
	if many = raw[0].Kind() == '['; many {
		if err := api.ReadBody(b.RawMessage, &raw); err != nil {
			return nil, many, huma.Error400BadRequest("validation failed",
				&huma.ErrorDetail{Location: "body", Message: err.Error()})
		}
		if len(raw) == 0 || len(raw) > maxCases {
			return nil, many, &callvet.FieldError{Text: fmt.Sprintf("a list has 1 to %d cases, this one %d",
				maxCases, len(raw))}
		}
	}
	schemas := s.API.OpenAPI().Components.Schemas
	schema := schemas.Schema(reflect.TypeFor[Case](), true, "Case")
	res := &huma.ValidateResult{}
	list = make([]Case, len(raw))
	for i := range raw {
		path := huma.NewPathBuffer([]byte{}, 0)
		path.Push("body")
		if many {
			path.PushIndex(i)
		}
		var loose any
		err := api.ReadBody(raw[i], &loose)
		if err == nil {
			before := len(res.Errors)
			if huma.Validate(schemas, schema, path, huma.ModeWriteToServer, loose, res); len(res.Errors) == before {
				err = api.ReadBody(raw[i], &list[i])
			}
		}
		if err != nil {
			res.Errors = append(res.Errors, &huma.ErrorDetail{Location: path.String(), Message: err.Error()})
		}
	}
	if len(res.Errors) > 0 {
		return nil, many, huma.Error422UnprocessableEntity("validation failed", res.Errors...)
	}
	return list, many, nil
}

// CasesWritten are the stored cases.
type CasesWritten struct {
	TestCases []Case   `json:"test_cases" nullable:"false"`
	Version   int64    `json:"version" doc:"of the suite"`
	Warnings  []Remark `json:"warnings,omitempty" doc:"findings of the linter about these cases that are not errors"`
}

func createCases(ctx context.Context, s *api.Server, by *account.Principal, in *struct {
	SuitePath
	IfMatching
	Body oneOrMore
},
) (*Versioned[CasesWritten], error) {
	list, many, err := casesIn(s, in.Body)
	if err != nil {
		return nil, err
	}
	cases, own, err := written(list)
	if err != nil {
		return nil, err
	}
	first := 0
	w, err := s.Library.Edit(ctx, by.User, in.ID, "", in.Match(), func(d *library.Document) error {
		if own {
			if err := d.Own(); err != nil {
				return err
			}
		}
		first = len(d.Cases)
		d.Cases = append(d.Cases, cases...)
		return nil
	})
	if err != nil {
		return nil, moved(err, first, len(cases), many)
	}
	return casesWritten(w, first, len(cases))
}

// replaced rewrites the places of problems.
func replaced(err error, place func(string) string) error {
	var refused *library.RefusedError
	if !errors.As(err, &refused) {
		return err
	}
	out := &library.RefusedError{Problems: slices.Clone(refused.Problems)}
	for i := range out.Problems {
		out.Problems[i].Place = place(out.Problems[i].Place)
	}
	return out
}

// moved converts places in the suite into places in the body of the request, which has n cases, the
// first at index first of the suite. many: the body is a list.
func moved(err error, first, n int, many bool) error {
	return replaced(err, func(place string) string { return movedPlace(place, first, n, many) })
}

func movedPlace(place string, first, n int, many bool) string {
	_, rest, ok := strings.Cut(place, "cases[")
	number, rest, closed := strings.Cut(rest, "]")
	at, err := strconv.Atoi(number)
	switch {
	case !ok || !closed || err != nil || at < first || at >= first+n:
		return api.InSuite + place
	case many:
		return fmt.Sprintf("[%d]%s", at-first, rest)
	}
	return strings.TrimPrefix(rest, ".")
}

func casesWritten(w *library.Written, first, n int) (*Versioned[CasesWritten], error) {
	v, err := w.Document.View()
	if err != nil {
		return nil, err
	}
	out := CasesWritten{Version: w.Version}
	if out.TestCases, err = casesOf(v.Cases[first : first+n]); err != nil {
		return nil, err
	}
	mine := map[string]bool{}
	for i := range out.TestCases {
		mine[out.TestCases[i].ID] = true
	}
	for _, r := range Remarks(w.Warnings) {
		if mine[r.Case] {
			out.Warnings = append(out.Warnings, r)
		}
	}
	return &Versioned[CasesWritten]{Etag(w.Version), out}, nil
}

func getCase(ctx context.Context, s *api.Server, _ *account.Principal, in *CasePath) (*Versioned[Case], error) {
	e, v, err := s.Library.Now(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	i, err := v.Document.Find(in.Case)
	if err != nil {
		return nil, err
	}
	view, err := v.Document.View()
	if err != nil {
		return nil, err
	}
	list, err := casesOf(view.Cases[i : i+1])
	if err != nil {
		return nil, err
	}
	return &Versioned[Case]{Etag(e.Version), list[0]}, nil
}

func putCase(ctx context.Context, s *api.Server, by *account.Principal, in *struct {
	CasePath
	IfMatching
	Body Case
},
) (*Versioned[CasesWritten], error) {
	if in.Body.ID != "" && in.Body.ID != in.Case {
		return nil, &callvet.FieldError{
			Field: "id",
			Text:  fmt.Sprintf("{id}: the path names the case %s, and the id of a case stays", in.Case),
		}
	}
	in.Body.ID = in.Case
	raw, own, err := in.Body.text()
	if err != nil {
		return nil, err
	}
	place := 0
	w, err := s.Library.Edit(ctx, by.User, in.ID, "", in.Match(), func(d *library.Document) error {
		if own {
			if err := d.Own(); err != nil {
				return err
			}
		}
		var err error
		if place, err = d.Find(in.Case); err == nil {
			d.Cases[place] = raw
		}
		return err
	})
	if err != nil {
		return nil, moved(err, place, 1, false)
	}
	return casesWritten(w, place, 1)
}

// tagged is a response without a body.
type tagged struct {
	ETag string `header:"ETag"`
}

func deleteCase(ctx context.Context, s *api.Server, by *account.Principal, in *struct {
	CasePath
	IfMatching
},
) (*tagged, error) {
	w, err := s.Library.Edit(ctx, by.User, in.ID, "", in.Match(), func(d *library.Document) error {
		i, err := d.Find(in.Case)
		if err == nil {
			d.Cases = append(d.Cases[:i:i], d.Cases[i+1:]...)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return &tagged{Etag(w.Version)}, nil
}
