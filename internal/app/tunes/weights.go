// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package tunes

import (
	"context"
	"fmt"

	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/store/rows"
	"github.com/callvet/callvet/retrieve/learn"
)

// Weights is the result of a search for weights of a catalogue.
type Weights struct {
	Catalogue string `json:"catalogue_id"`
	Version   int64  `json:"catalogue_version"`
	// Found compares the weights with the preset on the questions held out.
	Found learn.Tuned `json:"tuned"`
	// Text is the weights as a setting of searches; "": no better weights were found.
	Text string `json:"weights_text"`
}

// Sentence is the result in words.
func (w *Weights) Sentence() string {
	f := &w.Found
	switch {
	case w.Text == "":
		return fmt.Sprintf("no weights are better than those of the preset %s by %s", f.Preset, f.Goal)
	case f.BeyondChance:
		return fmt.Sprintf("better than the preset %s by %s: %.3f, and %.3f with the preset", f.Preset, f.Goal, f.After, f.Before)
	}
	return fmt.Sprintf("no gain beyond chance by %s: %.3f, and %.3f with the preset %s", f.Goal, f.After, f.Before, f.Preset)
}

// KeepWeights stores the result of a search for weights in an experiment, and returns its id. suite
// is the name of the questions, suiteID their suite on the server.
func KeepWeights(ctx context.Context, a *app.App, suite, suiteID, experiment string, w *Weights) (string, error) {
	db, err := a.Config.Store(ctx)
	if err != nil {
		return "", err
	}
	id, err := db.NewTune()
	if err != nil {
		return "", err
	}
	now := a.Config.Now().UTC()
	t := Tune{
		Format: "callvet.tune", Version: 1, ID: id, Kind: OfWeights, State: Done, Created: now, Updated: now,
		Suite: suite, SuiteHash: w.Found.Suite, Metric: w.Found.Goal, Models: []ModelSearch{}, Runs: []string{}, Weights: w,
		Cases: Cases{
			Train: w.Found.Train.Cases, TrainFamilies: w.Found.Train.Clusters,
			Holdout: w.Found.Held.Cases, HoldoutFamilies: w.Found.Held.Clusters,
		},
	}
	return id, insert(ctx, db, &t, rows.AddTuneParams{
		UserID: a.Config.User, SuiteID: suiteID, ExperimentID: experiment,
	})
}
