// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package runs

import (
	"errors"

	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/app/results"
	"github.com/callvet/callvet/internal/labels"
)

// Lines are all verdicts as lines of a labels file.
func Lines(d *results.Judged) []labels.Label {
	var all []labels.Label
	for i := range d.Judgings {
		all = append(all, d.Judgings[i].Lines()...)
	}
	for i := range d.Majorities {
		all = append(all, d.Majorities[i].Lines()...)
	}
	for i := range all {
		all[i].Run = d.About
	}
	return all
}

// AddLabels adds all verdicts to a labels file.
func AddLabels(a *app.App, name string, d *results.Judged, events app.Events) (err error) {
	to, err := OpenLabels(a, name, events)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	return to.Append(Lines(d)...)
}
