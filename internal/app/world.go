// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package app

import (
	"slices"
)

// The worlds that answer the calls of a run.
const (
	WorldMock     = "mock"
	WorldLive     = "live"
	WorldRecorded = "recorded"
)

// What happens to a call without a recording.
const (
	OnMissFail = "fail"
	OnMissTell = "tell"
)

// WorldRequest says who answers calls.
type WorldRequest struct {
	// World is mock, the mocks of the suite, live, the tools that the file Live lists and no
	// other, or recorded; "" is mock, or recorded where there are Recordings.
	World string `json:"world,omitempty"`
	Live  string `json:"live,omitempty"`
	// Recordings is a folder with what tools answered before. Nothing is executed.
	Recordings string `json:"recordings,omitempty"`
	// OnMiss is the handling of a call without a recording: fail, also "", ends the attempt with an
	// error, because it cannot be judged; tell returns an error to the target, and goes on.
	OnMiss string `json:"on_miss,omitempty"`
	// Record is a folder that gets what is answered. No answer of earlier runs is reused then.
	Record string `json:"record,omitempty"`
}

// Check refuses what does not go together, and fills in what follows.
func (q *WorldRequest) Check() error {
	worlds := []string{"", WorldMock, WorldLive, WorldRecorded}
	switch {
	case !slices.Contains(worlds, q.World):
		return Wrong("world", q.World, "it is %s, %s or %s", WorldMock, WorldLive, WorldRecorded)
	case (q.World == WorldMock || q.World == WorldLive) && q.Recordings != "":
		return Wrong("recordings", q.Recordings, "{world} %s reads none", q.World)
	case q.World == WorldRecorded && q.Recordings == "":
		return Wrong("world", q.World, "which {recordings}? {record} DIR makes some")
	case !slices.Contains([]string{"", OnMissFail, OnMissTell}, q.OnMiss):
		return Wrong("on_miss", q.OnMiss, "it is %s or %s", OnMissFail, OnMissTell)
	case q.OnMiss != "" && q.Recordings == "":
		return Wrong("on_miss", q.OnMiss, "it is about {recordings}, and there are none")
	}
	if q.Recordings != "" {
		q.World = WorldRecorded
	}
	return nil
}
