// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package runs

import (
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/labels"
)

// OpenLabels opens a file of labels to add to.
func OpenLabels(a *app.App, name string, events app.Events) (*labels.Appender, error) {
	path, _, err := a.Config.Files.Path(name)
	if err != nil {
		return nil, err
	}
	to, err := labels.OpenAppender(path)
	if err == nil && to.Mended {
		events.Warn("label", name+" ended in the middle of a line, which was kept as it is")
	}
	return to, err
}
