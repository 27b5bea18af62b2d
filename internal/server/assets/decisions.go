// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package assets

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/account"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/catalogs"
	"github.com/callvet/callvet/internal/server/api"
	"github.com/callvet/callvet/internal/store/rows"
)

type (
	// AgreementAsk asks where production selected different tools than an evaluation.
	AgreementAsk struct {
		TracesID    string `json:"traces_id,omitempty" required:"false" maxLength:"64" doc:"a collection of traces of production"`
		Production  string `json:"production,omitempty" required:"false" maxLength:"33554432" doc:"decisions as a text: {query, tools} in a list or one per line, or traces; only the comparison is stored"`
		EvalID      string `json:"eval_id,omitempty" required:"false" maxLength:"100" doc:"a run with the same questions"`
		RunTarget   string `json:"run_target,omitempty" required:"false" maxLength:"500" doc:"of the run, where it has several"`
		CatalogueID string `json:"catalogue_id,omitempty" required:"false" maxLength:"64" doc:"without a run, this catalogue is asked; optional if there is exactly one"`
		Limit       int    `json:"limit,omitempty" required:"false" minimum:"0" maximum:"100" doc:"how many tools a search returns"`
		Preset      string `json:"preset,omitempty" required:"false" enum:"default,bigtool" doc:"how tools are scored"`
		Searching
		MaxPairs int `json:"max_pairs,omitempty" required:"false" minimum:"0" maximum:"5000" doc:"how many pairs are returned, the largest differences first; 0: 200"`
	}
	// AgreementAnswer compares production with an evaluation.
	AgreementAnswer struct {
		ID string `json:"id" doc:"the id of the stored comparison; the latest of a user are stored. Empty: it is not stored"`
		catalogs.Agreement
		LeftOut int              `json:"pairs_left_out"`
		Notes   []callvet.Notice `json:"notes" nullable:"false"`
	}
)

// defaultPairs is the default number of pairs in a response.
const defaultPairs = 200

func decisions(ctx context.Context, s *api.Server, by *account.Principal,
	in *struct{ Body AgreementAsk },
) (*AgreementAnswer, error) {
	b := &in.Body
	if (b.TracesID == "") == (b.Production == "") {
		return nil, &callvet.FieldError{
			Field: "traces_id",
			Text:  "{traces_id}: name a collection, or send {production}: one of the two",
		}
	}
	req, files := catalogs.DecisionsRequest{Production: tracesField, RunTarget: b.RunTarget}, app.Uploads{}
	if b.TracesID != "" {
		if err := s.May(ctx, by, api.KindTraces, b.TracesID, false); err != nil {
			return nil, err
		}
		release, err := alone(ctx, s)
		if err != nil {
			return nil, err
		}
		defer release()
		if req.Production, err = bring(ctx, s, b.TracesID, files); err != nil {
			return nil, err
		}
	} else {
		files[tracesField] = []byte(b.Production)
	}
	if b.EvalID != "" {
		if b.CatalogueID != "" {
			return nil, &callvet.FieldError{
				Field: "catalogue_id",
				Text:  "{catalogue_id}: it is asked where no run is named with {eval_id}",
			}
		}
		if err := s.May(ctx, by, api.KindRun, b.EvalID, false); err != nil {
			return nil, err
		}
		req.Run, req.Search = b.EvalID, b.named(files)
	} else {
		c, err := s.CatalogueOf(ctx, by, b.CatalogueID)
		if err != nil {
			return nil, err
		}
		if req.Search, err = searchOf(ctx, s, c, &b.Searching, files); err != nil {
			return nil, err
		}
	}
	req.K, req.Preset = b.Limit, b.Preset
	a, err := s.AppOf(ctx, by.User)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, selectTime)
	defer cancel()
	var h api.Notices
	out, err := catalogs.Decisions(ctx, a.With(files), req, h.Collect)
	if err != nil {
		return nil, lab(&h, notAsked(atMost(err, ctx), req.Embed != "", req.Rerank != ""))
	}
	answer := AgreementAnswer{Agreement: *out, Notes: h.All()}
	most := defaultPairs
	if b.MaxPairs > 0 {
		most = b.MaxPairs
	}
	if n := len(answer.Pairs); n > most {
		answer.Pairs, answer.LeftOut = answer.Pairs[:most], n-most
	}
	if answer.ID, err = keepComparison(ctx, s, by, &answer); err != nil {
		return nil, err
	}
	return &answer, nil
}

// The latest comparisons of each user are stored, so that the page shows them when it is reopened.
const (
	maxComparisons     = 8
	maxComparisonBytes = 16 << 20
)

// keptComparison is a stored comparison.
type keptComparison struct {
	ID     string          `json:"id"`
	Answer json.RawMessage `json:"answer"`
}

// keptComparisons returns the stored comparisons of a user, the newest first.
func keptComparisons(ctx context.Context, q *rows.Queries, user string) (list []keptComparison, err error) {
	b, err := q.RunDocument(ctx, api.ComparisonsOf(user))
	if api.IsMissing(err) {
		return nil, nil
	}
	if err == nil && json.Unmarshal(b, &list) != nil {
		return nil, nil // an unreadable list is replaced by the next comparison
	}
	if err != nil {
		return nil, fmt.Errorf("read comparisons: %w", err)
	}
	return list, nil
}

// keepComparison stores a comparison and returns its id; "" in a read-only store.
func keepComparison(ctx context.Context, s *api.Server, by *account.Principal,
	answer *AgreementAnswer,
) (string, error) {
	answer.ID = rand.Text()
	b, err := json.Marshal(answer)
	if err != nil {
		return "", fmt.Errorf("keep comparison: %w", err)
	}
	err = s.Config.Store.Change(ctx, "keep comparison", func(q *rows.Queries) error {
		list, err := keptComparisons(ctx, q, by.User)
		if err != nil {
			return err
		}
		list = append([]keptComparison{{answer.ID, b}}, list...)
		n, size := 0, 0
		for n < min(len(list), maxComparisons) && (n == 0 || size+len(list[n].Answer) <= maxComparisonBytes) {
			size, n = size+len(list[n].Answer), n+1
		}
		text, err := json.Marshal(list[:n])
		if err != nil {
			return fmt.Errorf("keep comparison: %w", err)
		}
		at := api.ComparisonsOf(by.User)
		return q.PutRunDocument(ctx,
			rows.PutRunDocumentParams{RunID: at.RunID, About: at.About, State: at.State, Document: text})
	})
	if errors.Is(err, callvet.ErrDenied) { // a read-only store
		return "", nil
	}
	return answer.ID, err
}

func decisionsAgain(ctx context.Context, s *api.Server, by *account.Principal, in *struct {
	ID string `path:"id" maxLength:"64"`
},
) (*AgreementAnswer, error) {
	list, err := keptComparisons(ctx, s.Config.Store.Rows(), by.User)
	if err != nil {
		return nil, err
	}
	for i := range list {
		if list[i].ID != in.ID {
			continue
		}
		var out AgreementAnswer
		if err := json.Unmarshal(list[i].Answer, &out); err != nil {
			return nil, fmt.Errorf("read comparison: %w", err)
		}
		return &out, nil
	}
	return nil, fmt.Errorf("comparison %q: %w: the latest %d are kept; compare again", in.ID,
		callvet.ErrNotFound, maxComparisons)
}
