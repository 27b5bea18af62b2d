// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package server

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/account"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/results"
	"github.com/callvet/callvet/internal/app/traces"
	"github.com/callvet/callvet/internal/library"
	"github.com/callvet/callvet/internal/store"
	"github.com/callvet/callvet/internal/store/rows"
	"github.com/callvet/callvet/panel/gates"
)

// Stored gates, and their verdicts on runs.
type (
	// KeptGate is a stored gate file without its text.
	KeptGate struct {
		ID        string    `json:"id"`
		Name      string    `json:"name"`
		Owner     string    `json:"owner" doc:"the id of their owner"`
		Shared    bool      `json:"shared" doc:"every user may read them"`
		CreatedAt time.Time `json:"created_at"`
		UpdatedAt time.Time `json:"updated_at"`
	}
	// GateText is a stored gate file.
	GateText struct {
		KeptGate
		Text string `json:"text" doc:"a gate file, as it was sent"`
	}
	// GateFields are the fields of a gate file that a user sets.
	GateFields struct {
		Name   string `json:"name,omitempty" required:"false" maxLength:"256"`
		Text   string `json:"text,omitempty" required:"false" maxLength:"1000000" doc:"a gate file, YAML or JSON (callvet schema gates)"`
		Shared *bool  `json:"shared,omitempty" required:"false" doc:"every user may read them"`
	}
	// GateLint is what is wrong with gates.
	GateLint struct {
		OK       bool     `json:"ok"`
		Gates    int      `json:"gates" doc:"how many there are; 0 where they cannot be read"`
		Problems []Remark `json:"problems" nullable:"false"`
	}
	// GateTemplate are gates to start from.
	GateTemplate struct {
		Name string `json:"name"`
		Text string `json:"text"`
	}
	// GateMetric is a metric that gates can test.
	GateMetric struct {
		Name string `json:"name"`
	}
	// PastVerdict is the verdict of a stored gate file on a run.
	PastVerdict struct {
		ID       string       `json:"id"`
		RunID    string       `json:"run_id"`
		Baseline string       `json:"baseline_eval_id,omitempty"`
		At       time.Time    `json:"at"`
		User     string       `json:"user_id"`
		Verdict  string       `json:"verdict" enum:"PASS,FAIL,INCONCLUSIVE"`
		Failed   []FailedGate `json:"failed_gates" nullable:"false" doc:"gates that did not pass"`
		Changed  bool         `json:"gates_changed" doc:"the gates have another text now"`
	}
	// GatePath is a path that names gates.
	GatePath struct {
		ID string `path:"id" maxLength:"64"`
	}
)

func (s *Server) addGatebook() {
	op := func(id, method, path, summary string) huma.Operation {
		return huma.Operation{
			OperationID: id, Method: method, Path: "/api/gates" + path, Summary: summary,
			Tags: []string{"gates"},
		}
	}
	of := func(role account.Role) Access { return Access{Role: role, Objects: map[string]Kind{"id": KindGate}} }
	add(s,
		op("lint-gates", http.MethodPost, "/lint",
			"Lists what is wrong with a gate file, with places, and keeps nothing."),
		Access{Scope: account.ScopeRead, Reads: true}, s.lintGates)
	add(s, op("gate-templates", http.MethodGet, "/templates", "Gives gate files to start from."), Access{},
		func(context.Context, *account.Principal, *struct{}) (*struct{ Body Page[GateTemplate] }, error) {
			out := Page[GateTemplate]{}
			for _, name := range traces.GateTemplates() {
				out.Items = append(out.Items, GateTemplate{name, string(traces.GateTemplate(name))})
			}
			return &struct{ Body Page[GateTemplate] }{out}, nil
		})
	add(s, op("gate-metrics", http.MethodGet, "/metrics", "Names the metrics that gates may be about."), Access{},
		func(context.Context, *account.Principal, *struct{}) (*struct{ Body Page[GateMetric] }, error) {
			out := Page[GateMetric]{}
			for _, name := range gates.Metrics() {
				out.Items = append(out.Items, GateMetric{name})
			}
			return &struct{ Body Page[GateMetric] }{out}, nil
		})
	add(s, op("list-gates", http.MethodGet, "",
		"Lists gates that are kept, the newest first: one's own, and those that are shared."), Access{}, s.listGates)
	create := op("create-gates", http.MethodPost, "", "Keeps gates by name.")
	create.DefaultStatus = http.StatusCreated
	add(s, create, Access{Role: account.Member}, s.createGates)
	add(s, op("get-gates", http.MethodGet, "/{id}", "Gives gates with their text."), of(""),
		func(ctx context.Context, _ *account.Principal, in *GatePath) (*versioned[GateText], error) {
			g, err := s.keptGate(ctx, in.ID)
			if err != nil {
				return nil, err
			}
			return &versioned[GateText]{etag(g.Updated), gateText(g)}, nil
		})
	add(s, op("update-gates", http.MethodPut, "/{id}", "Changes gates: what is not named stays."),
		of(account.Member), s.putGates)
	drop := op("delete-gates", http.MethodDelete, "/{id}", "Removes gates, with what they said of runs.")
	drop.DefaultStatus = http.StatusNoContent
	add(s, drop, of(account.Member), func(ctx context.Context, by *account.Principal, in *GatePath) (*struct{}, error) {
		return nil, s.cfg.Store.Change(ctx, "delete gates", func(q *rows.Queries) error {
			return errors.Join(q.DropGateVerdicts(ctx, in.ID), q.DropGate(ctx, in.ID),
				s.deletes(ctx, by, KindGate, in.ID).Do(q))
		})
	})
	add(s, op("gate-history", http.MethodGet, "/{id}/history", "What gates said of runs, the newest first."), of(""),
		s.gateHistory)
}

// wrongGates is what is wrong with a gate file.
func (s *Server) wrongGates(text string) (n int, list []Remark, err error) {
	n, err = traces.CheckGates(s.cfg.App.With(app.Uploads{gateFile: []byte(text)}), gateFile)
	list = []Remark{}
	var bad *results.BadGatesError
	if errors.As(err, &bad) {
		for i := range bad.Problems {
			list = append(list, remarkOf(&bad.Problems[i]))
		}
		return 0, list, nil
	}
	return n, list, err
}

func (s *Server) lintGates(_ context.Context, _ *account.Principal, in *struct {
	Body struct {
		Text string `json:"text" maxLength:"1000000" doc:"a gate file, YAML or JSON"`
	}
},
) (*struct{ Body GateLint }, error) {
	n, list, err := s.wrongGates(in.Body.Text)
	if err != nil {
		return nil, err
	}
	return &struct{ Body GateLint }{GateLint{OK: len(list) == 0, Gates: n, Problems: list}}, nil
}

// goodGates refuses a text that is no gate file, with all that is wrong with it.
func (s *Server) goodGates(text string) error {
	_, list, err := s.wrongGates(text)
	if err != nil || len(list) == 0 {
		return err
	}
	out := &library.RefusedError{}
	for _, r := range list {
		p := callvet.Problem{
			Code:    r.Code,
			Message: fmt.Sprintf("line %d, column %d: %s", r.Line, r.Column, r.Message), Fix: r.Fix,
		}
		out.Problems = append(out.Problems, library.Placed{Problem: p, Place: "text"})
	}
	return out
}

func keptGateOf(id, user, name string, shared bool, created, updated int64) KeptGate {
	return KeptGate{
		ID: id, Name: name, Owner: user, Shared: shared, CreatedAt: milli(created),
		UpdatedAt: milli(updated),
	}
}

func gateText(g *rows.CheckedGateEntry) GateText {
	return GateText{keptGateOf(g.ID, g.UserID, g.Name, g.Shared, g.Created, g.Updated), string(g.Content)}
}

func (s *Server) keptGate(ctx context.Context, id string) (*rows.CheckedGateEntry, error) {
	g, err := s.cfg.Store.Rows().Gate(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("read gates %s: %w", id, missing(err))
	}
	return &g, store.Intact(g.Whole, "gates "+id)
}

func (s *Server) listGates(ctx context.Context, by *account.Principal,
	in *PageIn,
) (*struct{ Body Page[KeptGate] }, error) {
	from, err := in.mark()
	if err != nil {
		return nil, err
	}
	list, err := s.cfg.Store.Rows().Gates(ctx,
		rows.GatesParams{
			UserID: by.User, Everybody: by.Role == account.Admin, Before: from.At, BeforeID: from.ID,
			N: int64(in.Limit) + 1,
		})
	if err != nil {
		return nil, fmt.Errorf("list gates: %w", err)
	}
	list, next := cut(list, in.Limit, func(g *rows.GatesRow) pageMark { return pageMark{g.Created, g.ID} })
	out := Page[KeptGate]{Items: []KeptGate{}, Next: next}
	for _, g := range list {
		out.Items = append(out.Items, keptGateOf(g.ID, g.UserID, g.Name, g.Shared, g.Created, g.Updated))
	}
	return &struct{ Body Page[KeptGate] }{out}, nil
}

func gateName(name string) (string, error) {
	if name = strings.TrimSpace(name); name == "" {
		return "", &callvet.FieldError{Field: "name", Text: "{name}: gates that are kept have a name"}
	}
	return name, nil
}

func (s *Server) createGates(ctx context.Context, by *account.Principal,
	in *struct{ Body GateFields },
) (*versioned[GateText], error) {
	name, err := gateName(in.Body.Name)
	if err != nil {
		return nil, err
	}
	if err := s.goodGates(in.Body.Text); err != nil {
		return nil, err
	}
	g := rows.CheckedGateEntry{
		UserID: by.User, Name: name, Shared: in.Body.Shared != nil && *in.Body.Shared,
		Created: s.cfg.Now().UnixMilli(), Content: []byte(in.Body.Text),
	}
	g.Updated = g.Created
	if g.ID, err = store.NewID(nil, "gate"); err != nil {
		return nil, err
	}
	err = s.cfg.Store.Change(ctx, "keep gates", func(q *rows.Queries) error {
		return q.AddGate(ctx, rows.AddGateParams{
			ID: g.ID, UserID: g.UserID, Name: g.Name, Shared: g.Shared, Created: g.Created, Updated: g.Updated,
			Content: g.Content,
		})
	})
	if err == nil {
		err = s.sharesNew(ctx, by, KindGate, g.ID, g.Shared)
	}
	if err != nil {
		return nil, err
	}
	return &versioned[GateText]{etag(g.Updated), gateText(&g)}, nil
}

func (s *Server) putGates(ctx context.Context, _ *account.Principal, in *struct {
	GatePath
	IfMatching
	Body GateFields
},
) (*versioned[GateText], error) {
	g, err := s.keptGate(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	if match := in.match(); match != nil && !match(g.Updated) {
		return nil, fmt.Errorf("change gates %s: %w", g.ID, library.ErrChanged)
	}
	if in.Body.Name != "" {
		if g.Name, err = gateName(in.Body.Name); err != nil {
			return nil, err
		}
	}
	if in.Body.Text != "" {
		if err := s.goodGates(in.Body.Text); err != nil {
			return nil, err
		}
		g.Content = []byte(in.Body.Text)
	}
	if in.Body.Shared != nil {
		g.Shared = *in.Body.Shared
	}
	was := g.Updated
	g.Updated = max(s.cfg.Now().UnixMilli(), was+1) // it is also the version
	err = s.cfg.Store.Change(ctx, "change gates", func(q *rows.Queries) error {
		n, err := q.ReplaceGate(ctx,
			rows.ReplaceGateParams{
				Name: g.Name, Shared: g.Shared, Updated: g.Updated, Content: g.Content,
				ID: g.ID, Was: was,
			})
		if err == nil && n == 0 {
			err = fmt.Errorf("change gates %s: %w", g.ID, library.ErrChanged)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return &versioned[GateText]{etag(g.Updated), gateText(g)}, nil
}

func gateHash(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// keepVerdict stores the verdict of gates on a run, unless the store is read-only.
func (s *Server) keepVerdict(ctx context.Context, by *account.Principal, g *rows.CheckedGateEntry, run, baseline string,
	v *GateVerdict,
) error {
	failed, err := json.Marshal(notPassed(v.Report))
	if err != nil {
		return fmt.Errorf("keep verdict: %w", err)
	}
	id, err := store.NewID(nil, "verdict")
	if err != nil {
		return err
	}
	err = s.cfg.Store.Change(ctx, "keep verdict", func(q *rows.Queries) error {
		return q.AddGateVerdict(ctx, rows.AddGateVerdictParams{
			ID: id, GateID: g.ID, UserID: by.User, RunID: run, Baseline: baseline, Created: s.cfg.Now().UnixMilli(),
			Verdict: string(v.Report.Verdict), Hash: gateHash(g.Content), Failed: failed,
		})
	})
	if errors.Is(err, callvet.ErrDenied) {
		return nil
	}
	return err
}

func (s *Server) gateHistory(ctx context.Context, by *account.Principal, in *struct {
	GatePath
	PageIn
},
) (*struct{ Body Page[PastVerdict] }, error) {
	from, err := in.mark()
	if err != nil {
		return nil, err
	}
	g, err := s.keptGate(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	hash := gateHash(g.Content)
	list, err := s.cfg.Store.Rows().GateVerdicts(ctx,
		rows.GateVerdictsParams{GateID: in.ID, Before: from.At, BeforeID: from.ID, N: int64(in.Limit) + 1})
	if err != nil {
		return nil, fmt.Errorf("list verdicts: %w", err)
	}
	list, next := cut(list, in.Limit, func(v *rows.CheckedGateVerdict) pageMark { return pageMark{v.Created, v.ID} })
	out := Page[PastVerdict]{Items: []PastVerdict{}, Next: next}
	for i := range list {
		v := &list[i]
		if err := store.Intact(v.Whole, "verdict"); err != nil { // the other entries may be readable
			out.Items = append(out.Items,
				PastVerdict{ID: v.ID, At: milli(v.Created), Failed: []FailedGate{{Reason: err.Error()}}})
			continue
		}
		// Gates may be shared; the runs of other users are not.
		err := s.May(ctx, by, KindRun, v.RunID, false)
		if err == nil && v.Baseline != "" {
			err = s.May(ctx, by, KindRun, v.Baseline, false)
		}
		if errors.Is(err, callvet.ErrNotFound) {
			continue
		}
		one := PastVerdict{
			ID: v.ID, RunID: v.RunID, Baseline: v.Baseline, At: milli(v.Created), User: v.UserID,
			Verdict: v.Verdict, Changed: v.Hash != hash,
		}
		if err != nil {
			return nil, fmt.Errorf("read verdict: %w", err)
		}
		if err := json.Unmarshal(v.Failed, &one.Failed); err != nil { // the other entries may be readable
			one.Failed = []FailedGate{{Reason: fmt.Sprintf("which gates failed cannot be read: %v", err)}}
		}
		if one.Failed == nil {
			one.Failed = []FailedGate{}
		}
		out.Items = append(out.Items, one)
	}
	return &struct{ Body Page[PastVerdict] }{out}, nil
}
