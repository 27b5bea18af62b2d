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

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/account"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/results"
	"github.com/callvet/callvet/internal/app/traces"
	"github.com/callvet/callvet/internal/library"
	"github.com/callvet/callvet/internal/server/api"
	"github.com/callvet/callvet/internal/server/assets"
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
	// GateLint has the problems of gates.
	GateLint struct {
		OK       bool            `json:"ok"`
		Gates    int             `json:"gates" doc:"their number; 0 if they cannot be read"`
		Problems []assets.Remark `json:"problems" nullable:"false"`
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

func addGatebook(s *api.Server) {
	op := api.Operations("gates", "/api/gates")
	of := func(role account.Role) api.Access {
		return api.Access{Role: role, Objects: map[string]api.Kind{"id": api.KindGate}}
	}
	api.Answer(s,
		op("lint-gates", http.MethodPost, "/lint",
			"Lists what is wrong with a gate file, with places, and keeps nothing."),
		api.Access{Scope: account.ScopeRead, Reads: true}, api.With(s, lintGates))
	api.Answer(s, op("gate-templates", http.MethodGet, "/templates", "Gives gate files to start from."), api.Access{},
		func(context.Context, *account.Principal, *struct{}) (*api.Page[GateTemplate], error) {
			out := api.Page[GateTemplate]{}
			for _, name := range traces.GateTemplates() {
				out.Items = append(out.Items, GateTemplate{name, string(traces.GateTemplate(name))})
			}
			return &out, nil
		})
	api.Answer(s, op("gate-metrics", http.MethodGet, "/metrics", "Names the metrics that gates may be about."),
		api.Access{},
		func(context.Context, *account.Principal, *struct{}) (*api.Page[GateMetric], error) {
			out := api.Page[GateMetric]{}
			for _, name := range gates.Metrics() {
				out.Items = append(out.Items, GateMetric{name})
			}
			return &out, nil
		})
	api.Answer(s, op("list-gates", http.MethodGet, "",
		"Lists gates that are kept, the newest first: one's own, and those that are shared."), api.Access{},
		api.With(s, listGates))
	api.Add(s, api.Returning(http.StatusCreated, op("create-gates", http.MethodPost, "", "Keeps gates by name.")),
		api.Access{Role: account.Member}, api.With(s, createGates))
	api.Add(s, op("get-gates", http.MethodGet, "/{id}", "Gives gates with their text."), of(""),
		func(ctx context.Context, _ *account.Principal, in *GatePath) (*assets.Versioned[GateText], error) {
			g, err := keptGate(ctx, s, in.ID)
			if err != nil {
				return nil, err
			}
			return &assets.Versioned[GateText]{ETag: assets.Etag(g.Updated), Body: gateText(g)}, nil
		})
	api.Add(s, op("update-gates", http.MethodPut, "/{id}", "Changes gates: what is not named stays."),
		of(account.Member), api.With(s, putGates))
	api.Add(s, api.Returning(http.StatusNoContent, op("delete-gates", http.MethodDelete, "/{id}",
		"Deletes gates, with their verdicts on runs.")), of(account.Member),
		func(ctx context.Context, by *account.Principal, in *GatePath) (*struct{}, error) {
			return nil, s.Config.Store.Change(ctx, "delete gates", func(q *rows.Queries) error {
				return errors.Join(q.DropGateVerdicts(ctx, in.ID), q.DropGate(ctx, in.ID),
					s.Deletes(ctx, by, api.KindGate, in.ID).Do(q))
			})
		})
	api.Answer(s, op("gate-history", http.MethodGet, "/{id}/history", "The verdicts of gates on runs, the newest first."),
		of(""),
		api.With(s, gateHistory))
}

// wrongGates returns the errors of a gate file.
func wrongGates(s *api.Server, text string) (n int, list []assets.Remark, err error) {
	n, err = traces.CheckGates(s.Config.App.With(app.Uploads{gateFile: []byte(text)}), gateFile)
	list = []assets.Remark{}
	var bad *results.BadGatesError
	if errors.As(err, &bad) {
		for i := range bad.Problems {
			list = append(list, assets.RemarkOf(&bad.Problems[i]))
		}
		return 0, list, nil
	}
	return n, list, err
}

func lintGates(_ context.Context, s *api.Server, _ *account.Principal, in *struct {
	Body struct {
		Text string `json:"text" maxLength:"1000000" doc:"a gate file, YAML or JSON"`
	}
},
) (*GateLint, error) {
	n, list, err := wrongGates(s, in.Body.Text)
	if err != nil {
		return nil, err
	}
	return &GateLint{OK: len(list) == 0, Gates: n, Problems: list}, nil
}

// goodGates returns an error with all problems of a text that is not a gate file.
func goodGates(s *api.Server, text string) error {
	_, list, err := wrongGates(s, text)
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

func keptGateOf(id, user, name string, shared bool, created, updated int64) *KeptGate {
	return &KeptGate{
		ID: id, Name: name, Owner: user, Shared: shared, CreatedAt: assets.Milli(created),
		UpdatedAt: assets.Milli(updated),
	}
}

func gateText(g *rows.CheckedGateEntry) GateText {
	return GateText{*keptGateOf(g.ID, g.UserID, g.Name, g.Shared, g.Created, g.Updated), string(g.Content)}
}

func keptGate(ctx context.Context, s *api.Server, id string) (*rows.CheckedGateEntry, error) {
	g, err := s.Config.Store.Rows().Gate(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("read gates %s: %w", id, missing(err))
	}
	return &g, store.Intact(g.Whole, "gates "+id)
}

func listGates(ctx context.Context, s *api.Server, by *account.Principal,
	in *api.PageIn,
) (*api.Page[KeptGate], error) {
	from, err := in.Mark()
	if err != nil {
		return nil, err
	}
	list, err := s.Config.Store.Rows().Gates(ctx,
		rows.GatesParams{
			UserID: by.User, Everybody: by.Role == account.Admin, Before: from.At, BeforeID: from.ID,
			N: int64(in.Limit) + 1,
		})
	if err != nil {
		return nil, fmt.Errorf("list gates: %w", err)
	}
	return api.Listed(list, in.Limit,
		func(g *rows.GatesRow) api.PageMark { return api.PageMark{At: g.Created, ID: g.ID} },
		func(g *rows.GatesRow) (*KeptGate, error) {
			return keptGateOf(g.ID, g.UserID, g.Name, g.Shared, g.Created, g.Updated), nil
		})
}

func gateName(name string) (string, error) {
	if name = strings.TrimSpace(name); name == "" {
		return "", &callvet.FieldError{Field: "name", Text: "{name}: gates that are kept have a name"}
	}
	return name, nil
}

func createGates(ctx context.Context, s *api.Server, by *account.Principal,
	in *struct{ Body GateFields },
) (*assets.Versioned[GateText], error) {
	name, err := gateName(in.Body.Name)
	if err != nil {
		return nil, err
	}
	if err := goodGates(s, in.Body.Text); err != nil {
		return nil, err
	}
	g := rows.CheckedGateEntry{
		UserID: by.User, Name: name, Shared: in.Body.Shared != nil && *in.Body.Shared,
		Created: s.Config.Now().UnixMilli(), Content: []byte(in.Body.Text),
	}
	g.Updated = g.Created
	if g.ID, err = store.NewID(nil, "gate"); err != nil {
		return nil, err
	}
	err = s.Config.Store.Change(ctx, "keep gates", func(q *rows.Queries) error {
		return q.AddGate(ctx, rows.AddGateParams{
			ID: g.ID, UserID: g.UserID, Name: g.Name, Shared: g.Shared, Created: g.Created, Updated: g.Updated,
			Content: g.Content,
		})
	})
	if err == nil {
		err = s.SharesNew(ctx, by, api.KindGate, g.ID, g.Shared)
	}
	if err != nil {
		return nil, err
	}
	return &assets.Versioned[GateText]{ETag: assets.Etag(g.Updated), Body: gateText(&g)}, nil
}

func putGates(ctx context.Context, s *api.Server, _ *account.Principal, in *struct {
	GatePath
	assets.IfMatching
	Body GateFields
},
) (*assets.Versioned[GateText], error) {
	g, err := keptGate(ctx, s, in.ID)
	if err != nil {
		return nil, err
	}
	if match := in.Match(); match != nil && !match(g.Updated) {
		return nil, fmt.Errorf("change gates %s: %w", g.ID, library.ErrChanged)
	}
	if in.Body.Name != "" {
		if g.Name, err = gateName(in.Body.Name); err != nil {
			return nil, err
		}
	}
	if in.Body.Text != "" {
		if err := goodGates(s, in.Body.Text); err != nil {
			return nil, err
		}
		g.Content = []byte(in.Body.Text)
	}
	if in.Body.Shared != nil {
		g.Shared = *in.Body.Shared
	}
	was := g.Updated
	g.Updated = max(s.Config.Now().UnixMilli(), was+1) // it is also the version
	err = s.Config.Store.Change(ctx, "change gates", func(q *rows.Queries) error {
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
	return &assets.Versioned[GateText]{ETag: assets.Etag(g.Updated), Body: gateText(g)}, nil
}

func gateHash(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// keepVerdict stores the verdict of gates on a run, unless the store is read-only.
func keepVerdict(ctx context.Context, s *api.Server, by *account.Principal, g *rows.CheckedGateEntry, run,
	baseline string,
	v *api.GateVerdict,
) error {
	failed, err := json.Marshal(notPassed(v.Report))
	if err != nil {
		return fmt.Errorf("keep verdict: %w", err)
	}
	id, err := store.NewID(nil, "verdict")
	if err != nil {
		return err
	}
	err = s.Config.Store.Change(ctx, "keep verdict", func(q *rows.Queries) error {
		return q.AddGateVerdict(ctx, rows.AddGateVerdictParams{
			ID: id, GateID: g.ID, UserID: by.User, RunID: run, Baseline: baseline, Created: s.Config.Now().UnixMilli(),
			Verdict: string(v.Report.Verdict), Hash: gateHash(g.Content), Failed: failed,
		})
	})
	if errors.Is(err, callvet.ErrDenied) {
		return nil
	}
	return err
}

func gateHistory(ctx context.Context, s *api.Server, by *account.Principal, in *struct {
	GatePath
	api.PageIn
},
) (*api.Page[PastVerdict], error) {
	from, err := in.Mark()
	if err != nil {
		return nil, err
	}
	g, err := keptGate(ctx, s, in.ID)
	if err != nil {
		return nil, err
	}
	hash := gateHash(g.Content)
	list, err := s.Config.Store.Rows().GateVerdicts(ctx,
		rows.GateVerdictsParams{GateID: in.ID, Before: from.At, BeforeID: from.ID, N: int64(in.Limit) + 1})
	if err != nil {
		return nil, fmt.Errorf("list verdicts: %w", err)
	}
	return api.Listed(list, in.Limit,
		func(v *rows.CheckedGateVerdict) api.PageMark { return api.PageMark{At: v.Created, ID: v.ID} },
		func(v *rows.CheckedGateVerdict) (*PastVerdict, error) {
			one := &PastVerdict{ID: v.ID, At: assets.Milli(v.Created), Failed: []FailedGate{}}
			if err := store.Intact(v.Whole, "verdict"); err != nil { // the other entries may be readable
				one.Failed = []FailedGate{{Reason: err.Error()}}
				return one, nil
			}
			// Gates may be shared; the runs of other users are not.
			err := s.May(ctx, by, api.KindRun, v.RunID, false)
			if err == nil && v.Baseline != "" {
				err = s.May(ctx, by, api.KindRun, v.Baseline, false)
			}
			if errors.Is(err, callvet.ErrNotFound) {
				return nil, nil
			}
			if err != nil {
				return nil, fmt.Errorf("read verdict: %w", err)
			}
			one.RunID, one.Baseline, one.User, one.Verdict = v.RunID, v.Baseline, v.UserID, v.Verdict
			one.Changed = v.Hash != hash
			if err := json.Unmarshal(v.Failed, &one.Failed); err != nil { // the other entries may be readable
				one.Failed = []FailedGate{{Reason: fmt.Sprintf("which gates failed cannot be read: %v", err)}}
			}
			if one.Failed == nil { // null was stored
				one.Failed = []FailedGate{}
			}
			return one, nil
		})
}
